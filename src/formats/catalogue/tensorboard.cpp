// TensorBoard event files.
#include <algorithm>
#include <array>

#include "formats/tensorboard/events.h"
#include "formats/tensorboard/records.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  const bool named_so = peek.path.filename().string().find("tfevents") != std::string::npos;
  if (peek.head.size() < RecordSplitter::kHeaderBytes)
    return named_so && !peek.head.empty() ? Sniff::possible : Sniff::no;
  const auto* head = reinterpret_cast<const std::byte*>(peek.head.data());
  if (!RecordSplitter::is_header(head)) return named_so ? Sniff::possible : Sniff::no;
  // The first record names the version; other TFRecord files hold examples, not events.
  constexpr std::size_t kFirstRecord = 128;
  return peek.head.substr(0, kFirstRecord).find("brain.Event:") != std::string_view::npos || named_so ? Sniff::certain
                                                                                                      : Sniff::no;
}

/// Keras and Estimators write training and evaluation of one run into folders of these names.
bool is_part_folder(const std::string& name) {
  constexpr std::array<std::string_view, 7> kNames = {"train", "training", "validation", "val",
                                                      "valid", "eval",     "test"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Path run_of(const Path& path) {
  const Path folder = path.parent_path();
  return is_part_folder(folder.filename().string()) && folder.has_parent_path() ? folder.parent_path() : folder;
}

class EventFileReader final : public Reader {
 public:
  explicit EventFileReader(std::string prefix) : decoder_(std::move(prefix)) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    records_.feed(bytes, damage, [&](std::span<const std::byte> data, std::uint64_t offset) {
      if (!decoder_.decode(data, sink)) {
        damage.add({{}, offset, 0, "a record with a good checksum is no TensorBoard event", data.size()});
      }
    });
    return {};
  }

  Result<void> finish(EventSink&, DamageReport& damage) override { return records_.finish(damage); }

 private:
  RecordSplitter records_;
  EventDecoder decoder_;
};

std::unique_ptr<Reader> open(const Path& path) {
  const std::string folder = path.parent_path().filename().string();
  return std::make_unique<EventFileReader>(is_part_folder(folder) ? folder + "/" : "");
}

constexpr std::string_view kDoc = R"(
The binary event files that TensorBoard shows: `events.out.tfevents.*`.

**Written by** TensorFlow 1 and 2, Keras' TensorBoard callback, PyTorch's SummaryWriter, Lightning, Hugging Face's Trainer,
mmdetection, Ultralytics, Unity ML-Agents and many more.

**What is read.**
- Scalars, as `simple_value` (TensorFlow 1, PyTorch) and as tensors (TensorFlow 2) of any real type, also half and
  bfloat16. Step and wall time are the event's own.
- Histograms, as six series of what they tell of the tensor they were made from: `TAG#mean`, `TAG#std`, `TAG#min`,
  `TAG#max`, `TAG#norm` (Euclidean; exact where the file keeps the sum of squares) and `TAG#zero-share` where a bucket is narrow
  enough around zero to tell. The distributions themselves are passed on to whoever wants them (`osler convert`).
- Text and hyperparameters, as configuration.
- Images, audio, graphs, meshes and profiles are passed over.

**Runs.** The event files of one folder are one run, read in the order of their names, which is the order in which they were
started. Folders called `train`, `validation`, `val`, `eval` or `test` belong to the run of the folder above them,
and their name goes before the tags: `validation/epoch_loss`. When a resumed training writes steps again, the
later points win. Where a file announces a session start (TensorFlow's sessions, PyTorch's `purge_step`), everything that
earlier sessions wrote from that step on is void, as in TensorBoard; in the folders named above it is only noted.

**Damage.** Every checksum is checked. A record whose data is damaged is skipped; after a damaged length the next good record is
searched for; both are reported with the bytes lost. A last record that is not complete is what a training that is
still writing leaves, and is no damage to the rest.
)";

}  // namespace

Format tensorboard() {
  return {"tensorboard", "TensorBoard event file", kDoc, "", sniff, open, run_of};
}

}  // namespace osler::catalogue
