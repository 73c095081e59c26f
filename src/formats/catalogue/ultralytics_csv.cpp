// Ultralytics' results.csv.
#include <algorithm>

#include "formats/table.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  const std::string name = peek.path.filename().string();
  if (!name.starts_with("results") || !name.ends_with(".csv")) return Sniff::no;
  const std::vector<std::string> names = table_header(peek);
  const bool detects = std::any_of(names.begin(), names.end(), [](const std::string& column) {
    return column.starts_with("metrics/") || (column.starts_with("train/") && column.ends_with("_loss"));
  });
  return detects ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_table_reader();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path.parent_path();
}

constexpr std::string_view kDoc = R"(
`results.csv` of YOLOv5, YOLOv8 and their successors by Ultralytics.

**What is read.** The table, as any CSV: names and cells are padded with blanks, one row per epoch. The folder is the run, so
`args.yaml` or `opt.yaml` and `hyp.yaml` beside the table become its configuration.

**Quirks.** The losses `box`, `cls`, `dfl` or `obj` add up to the total, which is not written. `x/lr0` to `x/lr2`, later `lr/pg0` to
`lr/pg2`, are the learning rates of the parameter groups; the bias group starts high and falls in the warm-up. A resumed
training appends. Rows whose validation losses are all 0 were not evaluated: their zeros are left out.
)";

}  // namespace

Format ultralytics_csv() {
  return {"ultralytics-csv", "Ultralytics results.csv", kDoc, "csv", sniff, open, run_of};
}

}  // namespace osler::catalogue
