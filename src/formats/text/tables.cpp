// Cells, headers and blocks.
#include "formats/text/tables.h"

#include <algorithm>

#include "formats/numbers.h"
#include "formats/text/vocabulary.h"

namespace osler::text {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kLongestColumnName = 48;
constexpr std::size_t kMostBlockRows = 1000;
/// A header whose rows stay away for this many lines is forgotten.
constexpr int kHeaderPatience = 2000;

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool is_ruling(std::string_view text) {
  return text.find_first_not_of("-=+:|_ \t") == std::string_view::npos;
}

/// Parts `text` at commas, at gaps of two spaces or a tab, or at single spaces.
enum class Parting { commas, gaps, spaces };

void part(std::string_view text, Parting parting, std::vector<std::string_view>& parts) {
  parts.clear();
  std::size_t start = 0;
  const auto close = [&](std::size_t end) {
    const std::string_view piece = trim(text.substr(start, end - start));
    if (!piece.empty() || parting == Parting::commas) parts.push_back(piece);
  };
  for (std::size_t i = 0; i <= text.size() && parts.size() <= kMostColumns; ++i) {
    bool cut = i == text.size();
    if (!cut) {
      const char c = text[i];
      switch (parting) {
        case Parting::commas:
          cut = c == ',';
          break;
        case Parting::gaps:
          cut = c == '\t' || (c == ' ' && i + 1 < text.size() && text[i + 1] == ' ');
          break;
        case Parting::spaces:
          cut = c == ' ' || c == '\t';
      }
    }
    if (!cut) continue;
    close(i);
    start = i + 1;
  }
}

/// The line up to a progress bar that is drawn behind the numbers: "  640: 100%|...".
std::string_view before_bar(std::string_view line) {
  const std::size_t bar = line.find("%|");
  if (bar == std::string_view::npos) return line;
  std::size_t colon = line.rfind(':', bar);
  return colon == std::string_view::npos ? line : line.substr(0, colon);
}

bool counts(std::string_view name) {
  const KeyTraits traits = describe_key(name);
  return traits.epoch || traits.step != 0;
}

/// A column name without the parenthesis that spans several columns ("Box(P", "mAP50-95)").
std::string column_name(std::string_view text) {
  while (!text.empty() && (text.back() == ':' || text.back() == ')') && text.find('(') == std::string_view::npos) {
    text.remove_suffix(1);
  }
  std::string name(text == "#" ? "step" : text);  // spaCy heads its steps so
  if (name.find('(') != std::string::npos && name.find(')') == std::string::npos) name += ')';
  return name;
}

}  // namespace

bool Tables::fenced(std::string_view line) {
  line = trim(line);
  return line.size() > 2 && line.front() == '|' && line.back() == '|';
}

bool Tables::read_cell(std::string_view text, TableCell& cell) {
  text = trim(text);
  if (text.empty() || std::string_view("0123456789+-.nNiI").find(text.front()) == std::string_view::npos) return false;
  scan_line(text, scan_);
  const auto& numbers = scan_.numbers;
  const bool one = numbers.size() == 1 && numbers[0].begin == 0 && numbers[0].unit_end == text.size();
  const bool two = numbers.size() == 2 && numbers[0].begin == 0 && numbers[1].unit_end == text.size() &&
                   text.substr(numbers[0].end, numbers[1].begin - numbers[0].end) == "/";
  if (one || two) {
    cell.value = value_of(text, numbers[0]);
    cell.integer = numbers[0].written == Written::integer;
    cell.total = two ? static_cast<std::int64_t>(std::clamp(value_of(text, numbers[1]), 0.0, 1e15)) : 0;
    return true;
  }
  // Within a cell "nan" needs no separator before it.
  const CellValue read = osler::read_cell(text);
  cell = {.name = {}, .value = read.value, .total = 0, .integer = false};
  return read.kind == CellKind::number;
}

bool Tables::fenced_line(std::string_view line, TableRow& row) {
  line = trim(line);
  if (is_ruling(line)) return false;
  cells_.clear();
  std::size_t start = 1;
  for (std::size_t i = 1; i < line.size() && cells_.size() <= kMostColumns; ++i) {
    if (line[i] != '|') continue;
    cells_.push_back(line.substr(start, i - start));
    start = i + 1;
  }
  TableCell cell;
  const bool pair = cells_.size() == 2 && has_letter(cells_[0]) && !read_cell(cells_[0], cell);
  if (pair) {
    const std::string_view key = trim(cells_[0]);
    const bool indented = cells_[0].starts_with("   ");
    if (trim(cells_[1]).empty() && key.ends_with('/')) {
      group_ = key;
    } else if (read_cell(cells_[1], cell) && block_.size() < kMostBlockRows) {
      cell.name = indented ? group_ + std::string(key) : std::string(key);
      block_.push_back(cell);
      return false;
    }
  }
  std::size_t numeric = 0;
  for (const std::string_view text : cells_) numeric += read_cell(text, cell) ? 1 : 0;
  if (numeric == 0) {
    fenced_header_.assign(cells_.size(), "");
    for (std::size_t i = 0; i < cells_.size(); ++i) fenced_header_[i] = column_name(trim(cells_[i]));
    return false;
  }
  return numeric * 2 >= cells_.size() && row_under_header(fenced_header_, row);
}

bool Tables::end_block(TableRow& row) {
  group_.clear();
  fenced_header_.clear();
  if (block_.empty()) return false;
  row.swap(block_);
  block_.clear();
  return true;
}

bool Tables::row_under_header(const std::vector<std::string>& header, TableRow& row) {
  if (header.size() != cells_.size() || header.empty()) return false;
  row.clear();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    TableCell cell;
    if (!read_cell(cells_[i], cell) || header[i].empty()) continue;
    cell.name = header[i];
    row.push_back(std::move(cell));
  }
  // The same name twice: pairs of columns ("category | AP | category | AP"), which are no time series.
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::find(header.begin() + static_cast<std::ptrdiff_t>(i) + 1, header.end(), header[i]) != header.end()) {
      return false;
    }
  }
  return !row.empty();
}

void Tables::offer_header(std::string_view line) {
  if (line.size() > 600) return;
  line = trim(before_bar(line));
  // Most lines are prose, whose first words name no column; looking there first costs little.
  const std::size_t first_end = std::min(line.find_first_of(",\t"), line.find("  "));
  const std::string_view first = line.substr(0, std::min(first_end, line.find(' ')));
  if (first_end == std::string_view::npos && !counts(first)) return;
  if (is_ruling(line)) return;
  const bool commas = line.find(',') != std::string_view::npos;
  bool loose = false;
  part(line, commas ? Parting::commas : Parting::gaps, cells_);
  if (cells_.size() < 2 && !commas) {
    part(line, Parting::spaces, cells_);
    loose = true;
  }
  if (cells_.size() < 2 || cells_.size() > kMostColumns) return;
  std::size_t figures = 0;
  bool counter = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const std::string_view cell = cells_[i];
    const bool last = i + 1 == cells_.size();
    if (cell.empty() || cell.size() > kLongestColumnName || (!has_letter(cell) && cell != "#")) return;
    if (cell.find_first_of("=\"'{}[]") != std::string_view::npos) return;
    if (const std::size_t colon = cell.find(':');
        colon != std::string_view::npos && !(last && colon + 1 == cell.size()))
      return;
    const KeyTraits traits = describe_key(column_name(cell));
    figures += traits.metric ? 1 : 0;
    counter |= (traits.epoch || traits.step != 0) && (!loose || i == 0);
  }
  if (loose ? !counter : !counter && figures < 2) return;
  header_.assign(cells_.size(), "");
  for (std::size_t i = 0; i < cells_.size(); ++i) header_[i] = column_name(cells_[i]);
  header_commas_ = commas;
  lines_since_row_ = 0;
}

bool Tables::column_line(std::string_view line, TableRow& row) {
  if (header_.empty()) return false;
  if (++lines_since_row_ > kHeaderPatience) {
    header_.clear();
    return false;
  }
  part(before_bar(line), header_commas_ ? Parting::commas : Parting::spaces, cells_);
  if (cells_.size() != header_.size()) return false;
  TableCell cell;
  std::size_t numeric = 0;
  for (const std::string_view text : cells_) numeric += read_cell(text, cell) ? 1 : 0;
  if (numeric * 2 < cells_.size() || !row_under_header(header_, row)) return false;
  lines_since_row_ = 0;
  return true;
}

}  // namespace osler::text
