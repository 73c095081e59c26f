// JSON lines: one object per line.
#include "formats/json/lines.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  return json_shape(peek) == JsonShape::lines ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_json_lines_reader();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
One JSON object per line, whatever the file is called.

**Written by** Detectron2 (`metrics.json`), mmdetection and mmsegmentation before mmengine (`*.log.json`), LLaMA-Factory
(`trainer_log.jsonl`), fairseq with `--log-format json`, and scripts that write a `dict` per step.

**What is read.** Every number is a point of the series named by its key; nested objects are joined with `/`
(`{"train": {"loss": 1}}` is `train/loss`), an array of up to 16 numbers gives one series per element. Steps, epochs, times and
phases (`"mode": "val"`) are found as in a CSV table; an evaluation line of the current epoch stands at the
step that training has reached.

**Quirks that are understood.** `NaN`, `Infinity` and `-Infinity` without quotes, numbers in quotes, keys that come and go,
lines of texts only and objects called `config`, `args`, `_meta` or `summary` (they become configuration), several objects on one
line, `nan` where nothing was measured, broken UTF-8, UTF-16. A damaged line is reported and skipped.
)";

}  // namespace

Format json_lines() {
  return {"json-lines", "JSON lines", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
