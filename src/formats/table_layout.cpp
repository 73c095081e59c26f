// Guessing how the lines of a table are made.
#include <algorithm>
#include <array>

#include "formats/numbers.h"
#include "formats/table.h"

namespace osler {
namespace {

/// What the cells of one line look like.
struct LineShape {
  std::size_t fields = 0;
  std::size_t numbers = 0;
  std::size_t texts = 0;
};

LineShape shape_of(const std::vector<std::string>& fields) {
  LineShape shape;
  shape.fields = fields.size();
  for (const std::string& field : fields) {
    const CellKind kind = read_cell(field, true).kind;
    shape.numbers += kind == CellKind::number ? 1 : 0;
    shape.texts += kind == CellKind::text ? 1 : 0;
  }
  return shape;
}

/// Names of columns are short; a sentence that happens to hold commas is no header.
bool could_be_names(const std::vector<std::string>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const std::string& field) {
    return field.size() <= 200 && std::count(field.begin(), field.end(), ' ') <= 6;
  });
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A sentence with numbers as "Verlust: 2,1234" or "tokens=1,234,567" has commas, but none that part its fields.
bool has_commas_in_numbers(std::string_view sentence) {
  constexpr std::size_t kFewestDecimals = 2;
  constexpr std::size_t kGroup = 3;
  // "run 1,100,0.5" may well be three fields; "tokens: 1,100" is none.
  const bool says_keys = sentence.find('=') != sentence.npos || sentence.find(": ") != sentence.npos;
  for (std::size_t comma = sentence.find(','); comma != sentence.npos; comma = sentence.find(',', comma + 1)) {
    std::size_t begin = comma;
    while (begin > 0 && is_digit(sentence[begin - 1])) --begin;
    std::size_t end = comma + 1;
    while (end < sentence.size() && is_digit(sentence[end])) ++end;
    const bool clock = begin > 1 && sentence[begin - 1] == ':' && is_digit(sentence[begin - 2]);
    const bool named =
        begin > 0 && begin < comma && !clock && std::string_view(" \t:=").find(sentence[begin - 1]) != sentence.npos;
    const std::size_t digits = end - comma - 1;
    const bool ends = end == sentence.size() || (sentence[end] != '.' && sentence[end] != ',');
    const bool grouped = says_keys && digits == kGroup && comma - begin <= kGroup;
    if (named && (grouped || (ends && digits >= kFewestDecimals))) return true;
  }
  return false;
}

/// Whether the commas in the cells are decimal ones: more or fewer than three digits behind them, or a zero before.
bool are_decimal(const std::vector<std::string>& lines, char delimiter) {
  if (delimiter == ';') return true;  // that is why there are no commas between the fields
  bool seen = false;
  for (const std::string& line : lines) {
    for (const std::string& field : split_fields(line, delimiter)) {
      const std::size_t comma = field.find(',');
      if (comma == field.npos || read_cell(field, true).kind != CellKind::number) continue;
      if (field.find_first_of(",.", comma + 1) != field.npos) return false;
      const std::size_t digits = field.find_first_not_of("0123456789", comma + 1);
      const bool group = std::min(digits, field.size()) - comma == 4 && trim(field).front() != '0';
      seen |= !group;
    }
  }
  return seen;
}

TableLayout try_delimiter(const std::vector<std::string>& lines, char delimiter) {
  std::vector<LineShape> shapes;
  for (const std::string& line : lines) shapes.push_back(shape_of(split_fields(line, delimiter)));
  const std::vector<std::string> first = split_fields(lines.front(), delimiter);
  const bool has_header = shapes.front().texts > shapes.front().numbers && could_be_names(first);

  std::size_t good = 0;
  std::size_t rows = 0;
  for (std::size_t i = has_header ? 1 : 0; i < shapes.size(); ++i) {
    ++rows;
    const bool same_width = shapes[i].fields == shapes.front().fields ||
                            (has_header && shapes[i].fields < shapes.front().fields && shapes[i].fields > 1);
    const bool header_again = has_header && lines[i] == lines.front();
    // Any sentence is a row of words between blanks, so there numbers must prevail.
    const bool numbers = shapes[i].numbers > (delimiter == TableLayout::kBlanks ? shapes[i].fields / 2 : 0);
    good += (same_width && numbers) || header_again ? 1 : 0;
  }
  TableLayout layout{delimiter, has_header, shapes.front().fields, are_decimal(lines, delimiter)};
  // One odd line in five is damage; more and it is no table.
  if (good * 5 < rows * 4 || (rows == 0 && !has_header)) layout.columns = 0;
  return layout;
}

}  // namespace

TableLayout guess_layout(const std::vector<std::string>& lines) {
  TableLayout best;
  if (lines.empty()) return best;
  for (const char delimiter : {',', '\t', ';', '|', TableLayout::kBlanks}) {
    if (delimiter == ',' && has_commas_in_numbers(lines.front())) continue;
    const TableLayout layout = try_delimiter(lines, delimiter);
    // Blanks separate only where nothing else does: "| 1 | 2 |" has more blanks than bars.
    if (delimiter == TableLayout::kBlanks && best.columns > 1) break;
    if (layout.columns > best.columns) best = layout;
  }
  return best;
}

std::vector<std::string> first_lines(const Peek& peek) {
  constexpr std::size_t kLines = 32;
  std::vector<std::string> lines;
  if (peek.head.find('\0') != std::string_view::npos && !peek.head.starts_with("\xFF\xFE") &&
      !peek.head.starts_with("\xFE\xFF") && peek.head.find('\0') > 1) {
    return lines;
  }
  LineSplitter splitter;
  DamageReport ignored;
  const auto take = [&](const Line& line) {
    if (lines.size() < kLines && !line.text.starts_with('#')) lines.emplace_back(line.text);
  };
  splitter.feed(std::as_bytes(std::span(peek.head)), ignored, take);
  // The last line of a head is cut off, unless the head is all there is.
  if (peek.whole) splitter.finish(ignored, take);
  return lines;
}

bool is_wide_header(const Peek& peek) {
  constexpr std::size_t kFewestNames = 100;
  if (peek.whole || peek.head.find_first_of("\r\n") != std::string_view::npos) return false;
  // JSON objects one after another on one line have commas and names as well.
  if (peek.head.starts_with('{') || peek.head.starts_with('[')) return false;
  for (const char delimiter : {',', '\t', ';'}) {
    const std::size_t last = peek.head.rfind(delimiter);
    if (last == std::string_view::npos) continue;
    const std::vector<std::string> names = split_fields(peek.head.substr(0, last), delimiter);
    const LineShape shape = shape_of(names);
    if (names.size() >= kFewestNames && shape.numbers == 0 && could_be_names(names)) return is_training_header(names);
  }
  return false;
}

bool is_training_header(const std::vector<std::string>& names) {
  constexpr std::array<std::string_view, 22> kWords = {
      "loss",   "acc",       "epoch",  "step", "iter", "lr",   "reward", "grad", "perplexity", "ppl",   "auc",
      "metric", "precision", "recall", "f1",   "mse",  "rmse", "mae",    "map",  "val_",       "train", "episode"};
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
      return lower == word || (word.size() > 2 && lower.find(word) != std::string::npos);
    });
  });
}

std::vector<std::string> table_header(const Peek& peek) {
  const std::vector<std::string> lines = first_lines(peek);
  const TableLayout layout = guess_layout(lines);
  if (layout.columns == 0 || !layout.has_header) return {};
  return split_fields(lines.front(), layout.delimiter);
}

}  // namespace osler
