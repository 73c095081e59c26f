// Lightning's metrics.csv.
#include <algorithm>

#include "formats/table.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  if (peek.path.filename() != "metrics.csv") return Sniff::no;
  const std::vector<std::string> names = table_header(peek);
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return has("step") ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_table_reader();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path.parent_path();
}

constexpr std::string_view kDoc = R"(
`metrics.csv` as the CSVLogger of Lightning writes it, one folder `version_N` per run.

**What is read.** The table, as any CSV: training and validation stand on rows of their own, with the same `step`, and the
other cells are empty. The folder is the run, so the `hparams.yaml` beside the table becomes its configuration.

**Quirks.** `step` counts optimizer steps over the whole training and is the axis; `epoch` is a series. Names that end in
`_step` and `_epoch` are the same quantity, per batch and averaged over the epoch. The last row may hold the test
results.
)";

}  // namespace

Format lightning_csv() {
  return {"lightning-csv", "Lightning metrics.csv", kDoc, "csv", sniff, open, run_of};
}

}  // namespace osler::catalogue
