// trainer_state.json of Hugging Face's Trainer.
#include "formats/json/document.h"
#include "formats/json/lines.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  if (peek.head.find("\"log_history\"") == std::string_view::npos) return Sniff::no;
  return json_shape(peek) == JsonShape::document ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const Path& path) {
  return make_json_document_reader(path.stem().string());
}

Path run_of(const Path& path) {
  const Path folder = path.parent_path();
  const bool checkpoint = folder.filename().string().starts_with("checkpoint-");
  return checkpoint ? folder.parent_path() : folder;
}

constexpr std::string_view kDoc = R"(
`trainer_state.json` of Hugging Face's Trainer and of what is built on it: TRL, Axolotl, LLaMA-Factory, PEFT scripts.

**What is read.** The rows of `log_history`: `loss`, `learning_rate`, `grad_norm`, `eval_*` and whatever else was logged, at their
`step`, with `epoch` as a series. The scalars beside it (`max_steps`, `num_train_epochs`, `train_batch_size`, ...) become
configuration.

**Runs.** Each checkpoint holds the whole history up to it. Of the files in a folder and its `checkpoint-*` folders only the
largest is read.

**Quirks.** `NaN` and `Infinity` without quotes. The last row sums the training up (`train_loss`, `train_runtime`): one point, the mean
over the whole run, not a curve.
)";

}  // namespace

Format hf_trainer_state() {
  return {"hf-trainer-state", "Hugging Face trainer_state.json", kDoc, "json", sniff, open, run_of, Part::snapshot};
}

}  // namespace osler::catalogue
