// CSV and other delimited tables.
#include <algorithm>

#include "formats/gaps.h"
#include "formats/numbers.h"
#include "formats/table.h"

namespace osler::catalogue {
namespace {

/// Nothing but numbers, one a line, as `print(loss, file=log)` leaves them. Whole ones could be anything: there the
/// file has to be called after a figure of merit.
bool is_bare_column(const std::vector<std::string>& lines, const std::filesystem::path& path) {
  constexpr std::size_t kFewest = 5;
  const bool figure = merit_of(path.stem().string()) != Merit::none;
  const auto is_real = [&](const std::string& line) {
    return (figure || line.find('.') != std::string::npos) && read_cell(line).kind == CellKind::number;
  };
  return lines.size() >= kFewest && std::all_of(lines.begin(), lines.end(), is_real);
}

/// " 40%|####      | 12/30 [00:05<00:08, 1.9it/s, loss=0.3]": bars and commas, but no columns.
bool shows_progress(std::string_view line) {
  return line.find("%|") != line.npos && (line.find("it/s") != line.npos || line.find("s/it") != line.npos);
}

Sniff sniff(const Peek& peek) {
  const std::vector<std::string> lines = first_lines(peek);
  if (lines.empty() && is_wide_header(peek)) return Sniff::certain;
  const std::string_view opening = lines.empty() ? std::string_view() : trim(lines.front());
  if (lines.empty() || opening.starts_with('{') || opening.starts_with('[')) return Sniff::no;
  if (std::any_of(lines.begin(), lines.end(), shows_progress)) return Sniff::no;
  const TableLayout layout = guess_layout(lines);
  if (layout.columns == 0) return Sniff::no;
  const bool named_so = peek.path.extension() == ".csv" || peek.path.extension() == ".tsv";
  // A header and nothing else, or a single column: only the name tells that it is a table.
  if (lines.size() == 1 || layout.columns == 1)
    return named_so || is_bare_column(lines, peek.path) ? Sniff::possible : Sniff::no;
  if (!layout.has_header) return Sniff::possible;
  const bool training = is_training_header(split_fields(lines.front(), layout.delimiter));
  return training && layout.delimiter != TableLayout::kBlanks ? Sniff::certain : Sniff::possible;
}

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  return make_table_reader({.header = {}, .rename = {}, .only_column = path.stem().string()});
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
counter that starts again in each epoch is continued; one that starts again without that is a restart. In the table of an agent (a reward, an
episode) `steps` that go up and down are the lengths of its episodes, a series like any other. A column of
Unix times (`time`, `timestamp`, `wall_time`) or of dates is the wall time. A column `phase`, `mode` or `split` that says
`train`, `val` or `test` goes into the names of that row's series: `val/loss`.

A table of one number per row (`step,metric,value`, or `250 val 3.1` without a header) gives one series per name; a number
under the name of a phase is the loss. A file of bare numbers, one a line, is one series with the file's name: `train_loss.txt`;
so are counts and one number that is none on each line where the file is named after a figure of merit (`rewards.csv`).

**Quirks that are understood.** Empty cells; zeros in all columns of a validation that did not take place; rows that come newest first; `nan` or `inf` where nothing was measured; a last row with
fewer fields than columns (left out and reported); names and fields in quotes or padded with blanks; a header that is repeated
(the training was started again, the later part wins); no header at all; first lines `# {...}` with the
configuration as JSON, or `# lr,0.001` one by one; a header longer than the view of the sniffers; `nan`, `NaN`, `inf`, `-Infinity`, `1.#QNAN`,
`None`, `N/A`; `1,234.5` in quotes, `1'234.5`; `97 %`; decimal commas (`0,5`, `1.234,5`); `tensor(0.5)`; line ends of any kind; a byte order mark;
UTF-16; holes of NUL bytes. Columns of text are left out. Text in a column of numbers is reported with its line and left out. That the last rows
have a step and no value is reported too: pandas writes NaN as an empty cell.
)";

}  // namespace

Format csv() {
  return {"csv", "CSV or another delimited table", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
