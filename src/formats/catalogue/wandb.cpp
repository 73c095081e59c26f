// The binary transaction log of a W&B run.
#include "formats/wandb/log.h"
#include "formats/wandb/records.h"
#include "formats/wandb/run_folder.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

class WandbReader final : public Reader {
 public:
  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    return log_.feed(bytes, damage, [&](std::string_view record, std::uint64_t offset) {
      records_.record(record, offset, sink, damage);
    });
  }

  Result<void> finish(EventSink& sink, DamageReport&) override {
    records_.finish(sink);
    return log_.finish();
  }

 private:
  WandbLog log_;
  WandbRecords records_;
};

Sniff sniff(const Peek& peek) {
  return WandbLog::opens(peek.head) ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<WandbReader>();
}

constexpr std::string_view kDoc = R"(
`run-ID.wandb`, the file in which the W&B client keeps everything it sends, also when it is offline
(`wandb/run-DATE_TIME-ID/run-ID.wandb`).

**What is read.** The history: each number logged with `wandb.log`, nested ones as `a/b`. Histograms, such as those of
`wandb.watch`, become `NAME#mean`, `#std`, `#min`, `#max`, `#norm` and, where it can be told, `#zero-share`. The run's
configuration, name and project become configuration, the exit code a mark. `_timestamp` is the wall time. What W&B
measured of the machine becomes `system/gpu.0.gpu` and so on, at the step that was logged last. Histograms in a run that
Osler wrote are read whole.

**Steps.** A step that was logged (`trainer/global_step`, `global_step`) is the axis where there is one, else `_step`,
the number of the `wandb.log` call.

**Quirks.** Written in blocks of 32 KiB like LevelDB's log, with a checksum for each fragment: a damaged fragment costs
its record and nothing more. A file that is still being written, or whose writer was killed, ends within a record; all
before it stands. Console output, media and the summary, which repeats the history, are not read.
)";

}  // namespace

Format wandb() {
  return {"wandb", "W&B run", kDoc, "", sniff, open, wandb_run_folder};
}

}  // namespace osler::catalogue
