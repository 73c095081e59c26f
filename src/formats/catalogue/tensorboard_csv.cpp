// The CSV files that TensorBoard's page offers for download.
#include "formats/table.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  return table_header(peek) == std::vector<std::string>{"Wall time", "Step", "Value"} ? Sniff::certain : Sniff::no;
}

/// "run-exp1_version_0-tag-train_loss.csv" taken apart.
struct ExportName {
  std::string run;
  std::string tag;
};

ExportName export_name(const Path& path) {
  constexpr std::string_view kTag = "-tag-";
  const std::string stem = path.stem().string();
  const std::size_t tag = stem.find(kTag);
  if (tag == std::string::npos) return {{}, stem};
  return {stem.substr(0, tag), stem.substr(tag + kTag.size())};
}

std::unique_ptr<Reader> open(const Path& path) {
  return make_table_reader({.header = {}, .rename = {{"Value", export_name(path).tag}}, .only_column = {}});
}

Path run_of(const Path& path) {
  const ExportName name = export_name(path);
  return name.run.empty() ? path : path.parent_path() / name.run;
}

constexpr std::string_view kDoc = R"(
The CSV that TensorBoard's page offers for download: `Wall time,Step,Value`, one file per tag.

**What is read.** The series is named after the file: `run-NAME-tag-TAG.csv` gives `TAG`. Files of one `NAME` in one folder are one
run, so downloading the training and the validation loss is enough for a diagnosis.

**Quirks.** The download is a sample of at most a thousand points. Characters such as `/` became `_` in the file name.
)";

}  // namespace

Format tensorboard_csv() {
  return {"tensorboard-csv", "TensorBoard CSV download", kDoc, "csv", sniff, open, run_of};
}

}  // namespace osler::catalogue
