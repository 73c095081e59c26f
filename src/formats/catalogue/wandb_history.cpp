// The history of a W&B run as JSON lines, as clients before 2020 left it.
#include "formats/json/lines.h"
#include "formats/wandb/run_folder.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  return peek.path.filename() == "wandb-history.jsonl" && json_shape(peek) == JsonShape::lines ? Sniff::certain
                                                                                               : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_json_lines_reader([](JsonRow& row, RowAssembler& rows) { row.drop(rows.column("_runtime")); });
}

constexpr std::string_view kDoc = R"(
`wandb-history.jsonl`, one line per `wandb.log`, as W&B clients before 0.10 wrote it into the run's folder.

**What is read.** Each number under its name, nested ones as `a/b`. `_step` is the step, unless the trainer logged its own
(`trainer/global_step`); `_timestamp` is the wall time; `_runtime` is left out.
)";

}  // namespace

Format wandb_history() {
  return {
      "wandb-history", "W&B history as JSON lines", kDoc, "json-lines", sniff, open, wandb_run_folder, Part::stretch,
      "wandb"};
}

}  // namespace osler::catalogue
