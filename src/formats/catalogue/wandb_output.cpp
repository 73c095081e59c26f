// What a W&B run printed: output.log in the run's folder.
#include "formats/text/text_reader.h"
#include "formats/wandb/run_folder.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  if (peek.path.filename() != "output.log") return Sniff::no;
  const std::string run = wandb_run_folder(peek.path).filename().string();
  const bool in_run = peek.path.parent_path().filename() == "files" || run.starts_with("run-") ||
                      run.starts_with("offline-run-") || run.starts_with("dryrun-") || run == "latest-run";
  return in_run ? text::sniff_text(peek) : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<text::TextReader>();
}

constexpr std::string_view kDoc = R"(
`output.log`, what the training printed while the W&B client ran, in `wandb/run-DATE_TIME-ID/files/`.

**What is read.** The same as from any training output (see `text`), together with the run's `config.yaml`.

**Quirks.** Where the run's binary log or its history is there too, they tell the same numbers better, and the output is left
out. Name the file itself to read it all the same.
)";

}  // namespace

Format wandb_output() {
  return {"wandb-output", "W&B console output", kDoc,          "text",         sniff,
          open,           wandb_run_folder,     Part::stretch, "wandb-history"};
}

}  // namespace osler::catalogue
