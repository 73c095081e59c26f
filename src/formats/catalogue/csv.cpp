// CSV and other delimited tables.
#include "formats/table.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  const std::vector<std::string> lines = first_lines(peek);
  if (lines.empty() || lines.front().starts_with('{') || lines.front().starts_with('[')) return Sniff::no;
  const TableLayout layout = guess_layout(lines);
  if (layout.columns == 0) return Sniff::no;
  const bool named_so = peek.path.extension() == ".csv" || peek.path.extension() == ".tsv";
  // A header and nothing else, or a single column: only the name tells that it is a table.
  if (lines.size() == 1 || layout.columns == 1) return named_so ? Sniff::possible : Sniff::no;
  if (!layout.has_header) return Sniff::possible;
  const bool training = is_training_header(split_fields(lines.front(), layout.delimiter));
  return training && layout.delimiter != TableLayout::kBlanks ? Sniff::certain : Sniff::possible;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_table_reader();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
A table of numbers: one line per step or epoch, columns separated by commas, tabs, semicolons, bars or blanks.

**Written by** Keras' CSVLogger, Ultralytics (`results.csv`), fastai's CSVLogger, stable-baselines3 (`progress.csv`,
`monitor.csv`), RLlib (`progress.csv`), spreadsheets, and most training scripts that people write themselves.

**What is read.** Every column of numbers is a series. The step is the column called `global_step`, `step`, `iter`,
`iteration`, `batch`, `episode` or the like, else `epoch` when it has one row for each, else the order of the rows. A
counter that starts again in each epoch is continued; one that starts again without that is a restart. A column of
Unix times (`time`, `timestamp`, `wall_time`) or of dates is the wall time. A column `phase`, `mode` or `split` that says
`train`, `val` or `test` goes into the names of that row's series: `val/loss`.

**Quirks that are understood.** Empty cells; names and fields in quotes or padded with blanks; a header that is repeated
(the training was started again, the later part wins); no header at all; a first line `# {...}` with the
configuration as JSON; `nan`, `NaN`, `inf`, `-Infinity`, `None`, `N/A`; `1,234.5` in quotes; `97 %`; `0,5` between
semicolons; `tensor(0.5)`; line ends of any kind; a byte order mark; UTF-16. Columns of text are left out. Text in a column of
numbers is reported with its line and left out.
)";

}  // namespace

Format csv() {
  return {"csv", "CSV or another delimited table", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
