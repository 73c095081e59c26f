// Darknet's training output.
#include <algorithm>

#include "formats/text/text_reader.h"

namespace osler::catalogue {
namespace {

using text::LinePlan;
using text::Scan;
using text::Slot;
using text::Trust;

void name_slot(Slot& slot, std::string_view name) {
  slot.use = Slot::Use::value;
  slot.trust = Trust::certain;
  slot.name = name;
}

/// The word behind the number at `index`.
std::string_view word_behind(std::string_view line, const Scan& scan, std::size_t index) {
  std::string_view rest = line.substr(scan.numbers[index].unit_end);
  const std::size_t start = rest.find_first_not_of(' ');
  if (start == std::string_view::npos) return {};
  rest.remove_prefix(start);
  return rest.substr(0, rest.find_first_of(" ,"));
}

bool is_iteration(std::string_view line, const Scan& scan) {
  return scan.numbers.size() >= 4 && line.find_first_not_of(' ') == scan.numbers[0].begin &&
         line.substr(scan.numbers[0].end).starts_with(':') && word_behind(line, scan, 2) == "avg";
}

void refine(std::string_view line, const Scan& scan, LinePlan& plan) {
  if (!is_iteration(line, scan)) {
    // Lines of single layers and of loading times: several per step, from batches too small to mean anything.
    if (line.starts_with("Region ") || line.starts_with("v3 ") || line.starts_with("Loaded: ") ||
        line.starts_with(" total_bbox")) {
      for (Slot& slot : plan.slots) slot.use = Slot::Use::skip;
      plan.values = plan.metric = false;
    }
    return;
  }
  plan.step = 0;
  plan.total = -1;
  plan.epoch = -1;
  plan.counter_kind = text::CounterKind::named;
  plan.code = false;
  plan.values = plan.metric = true;
  plan.named = static_cast<std::uint8_t>(std::min<std::size_t>(scan.numbers.size(), 255));
  for (Slot& slot : plan.slots) slot.use = Slot::Use::skip;
  name_slot(plan.slots[1], "loss");
  name_slot(plan.slots[2], "avg loss");
  for (std::size_t i = 3; i < scan.numbers.size(); ++i) {
    const std::string_view word = word_behind(line, scan, i);
    if (word == "rate") name_slot(plan.slots[i], "learning rate");
    if (word == "seconds") name_slot(plan.slots[i], "seconds per step");
    if (word == "images") name_slot(plan.slots[i], "images");
  }
}

Sniff sniff(const Peek& peek) {
  // " 1: 1123.449341, 1123.449341 avg loss, 0.000000 rate, 0.190143 seconds, 1 images"
  for (std::size_t at = peek.head.find(" avg"); at != std::string_view::npos; at = peek.head.find(" avg", at + 1)) {
    const std::size_t end = std::min(peek.head.find('\n', at), peek.head.size());
    const std::string_view rest = peek.head.substr(at, end - at);
    if (rest.find(" rate, ") != std::string_view::npos && rest.find(" seconds, ") != std::string_view::npos &&
        rest.find(" images") != std::string_view::npos) {
      return Sniff::certain;
    }
  }
  return Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<text::TextReader>(text::Dialect{refine});
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
What `darknet detector train` prints, also in the fork by AlexeyAB.

**What is read.** From `100: 1.52, 1.44 avg, 0.001 rate, 3.2 seconds, 6400 images`, whose loss has no name: the step,
`loss`, `avg loss` (darknet's own running mean), `learning rate`, `seconds per step`, `images`.

**Quirks.** The lines of the detection layers (`Region 82 Avg IOU: -nan, ...`) are left out: there are several per step,
and `-nan` in them is no failure, only a batch in which the layer had no object. With a batch of one the raw loss is very
noisy.
)";

}  // namespace

Format darknet() {
  return {"darknet", "Darknet training output", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
