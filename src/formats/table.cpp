// Reading tables: fields become numbers as fast as they can be told apart.
#include "formats/table.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "formats/bare_rows.h"
#include "formats/gaps.h"
#include "formats/json/config.h"
#include "formats/numbers.h"
#include "formats/times.h"

namespace osler {
namespace {

constexpr std::uint32_t kIgnored = RowAssembler::kMostColumns;
// Lines needed to see how a table is made: its header and two rows.
constexpr std::size_t kLayoutLines = 3;

/// What the cells of a column have been so far.
struct ColumnState {
  std::string name;
  std::uint32_t id = kIgnored;
  bool phase = false;
  std::uint64_t numbers = 0;
  std::uint64_t texts = 0;
  Damage first_text;  // kept until it is clear whether the column holds numbers
};

/// The next field of `line` from `position` on, which is moved behind the delimiter; quotes are resolved into
/// `unquoted`. Returns false when there is no further field.
class FieldCursor {
 public:
  FieldCursor(std::string_view line, char delimiter) : line_(line), delimiter_(delimiter) {
    if (delimiter_ == '|') strip_bars();
    if (delimiter_ == TableLayout::kBlanks) line_ = trim(line_);
  }

  bool next(std::string_view& field) {
    if (done_) return false;
    std::size_t start = at_;
    while (start < line_.size() && (line_[start] == ' ' || (line_[start] == '\t' && delimiter_ != '\t'))) ++start;
    if (start < line_.size() && line_[start] == '"') return quoted(start, field);
    std::size_t end = start;
    while (end < line_.size() && !is_delimiter(line_[end])) ++end;
    field = trim(line_.substr(start, end - start));
    step_over(end);
    return true;
  }

 private:
  [[nodiscard]] bool is_delimiter(char c) const {
    return c == delimiter_ || (delimiter_ == TableLayout::kBlanks && c == '\t');
  }

  bool quoted(std::size_t start, std::string_view& field) {
    unquoted_.clear();
    std::size_t i = start + 1;
    for (; i < line_.size(); ++i) {
      if (line_[i] != '"') {
        unquoted_ += line_[i];
      } else if (i + 1 < line_.size() && line_[i + 1] == '"') {
        unquoted_ += line_[i++];
      } else {
        break;
      }
    }
    while (i < line_.size() && !is_delimiter(line_[i])) ++i;
    field = trim(unquoted_);
    step_over(i);
    return true;
  }

  void step_over(std::size_t end) {
    done_ = end >= line_.size();
    at_ = end + 1;
    if (delimiter_ != TableLayout::kBlanks) return;
    while (at_ < line_.size() && is_delimiter(line_[at_])) ++at_;
    done_ = done_ || at_ >= line_.size();
  }

  void strip_bars() {
    line_ = trim(line_);
    if (line_.starts_with('|')) line_.remove_prefix(1);
    if (line_.ends_with('|')) line_.remove_suffix(1);
  }

  std::string_view line_;
  char delimiter_;
  std::size_t at_ = 0;
  bool done_ = false;
  std::string unquoted_;
};

/// The line under a header in tables drawn with bars and dashes.
bool is_rule(std::string_view line) {
  return line.find_first_not_of("-+|=: \t") == std::string_view::npos;
}

class TableReader final : public Reader {
 public:
  explicit TableReader(TableOptions options) : options_(std::move(options)) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    lines_.feed(bytes, damage, [&](const Line& line) { take(line, sink, damage); });
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    lines_.finish(damage, [&](const Line& line) { take(line, sink, damage); });
    if (!settled_ && kept_.empty() && !comments_.empty()) kept_.push_back(comments_.back());
    if (!settled_) settle(sink, damage);
    bare_rows_.finish(damage);
    rows_.finish(sink);
    return {};
  }

 private:
  struct KeptLine {
    std::string text;
    std::uint64_t number;
  };

  void take(const Line& line, EventSink& sink, DamageReport& damage) {
    if (line.text.starts_with('#')) return comment(line, sink);
    if (is_rule(line.text)) return;
    if (settled_) return data(line.text, line.number, sink, damage);
    if (!comments_.empty()) settle_comments(line, sink);
    kept_.push_back({std::string(line.text), line.number});
    if (kept_.size() >= kLayoutLines) settle(sink, damage);
  }

  /// A comment may hold the configuration as JSON, or the header.
  void comment(const Line& line, EventSink& sink) {
    const std::string_view text = trim(line.text.substr(line.text.find_first_not_of('#') == std::string_view::npos
                                                            ? line.text.size()
                                                            : line.text.find_first_not_of('#')));
    if (text.starts_with('{')) {
      json_to_config(text, sink);
    } else if (!settled_ && kept_.empty() && comments_.size() < kMostComments) {
      comments_.push_back({std::string(text), line.number});
    }
  }

  /// The comments above a table: its header, where the next line is one of numbers; the rest are settings, "lr,0.001".
  void settle_comments(const Line& next, EventSink& sink) {
    std::vector<KeptLine> comments = std::exchange(comments_, {});
    const TableLayout layout = guess_layout({std::string(next.text)});
    const std::string& last = comments.back().text;
    const std::vector<std::string> names = split_fields(last, layout.delimiter);
    const bool named = std::none_of(names.begin(), names.end(),
                                    [](const std::string& name) { return read_cell(name).kind == CellKind::number; });
    const bool headed = layout.columns > 0 && !layout.has_header && named && names.size() == layout.columns;
    if (headed) kept_.push_back(comments.back());
    if (headed) comments.pop_back();
    for (const KeptLine& comment : comments) {
      const std::size_t split = comment.text.find_first_of(",;\t=:");
      if (split == std::string::npos) continue;
      const std::string_view key = trim(std::string_view(comment.text).substr(0, split));
      const std::string_view value = trim(std::string_view(comment.text).substr(split + 1));
      const bool word = key.find(' ') == std::string_view::npos && !key.empty();
      if (word && !value.empty() && key.size() <= kLongestKey) sink.config(key, value);
    }
  }

  /// Decides from the lines kept so far how the table is made, and reads them.
  void settle(EventSink& sink, DamageReport& damage) {
    settled_ = true;
    std::vector<std::string> texts;
    for (const KeptLine& line : kept_) texts.push_back(line.text);
    if (options_.header.empty()) {
      layout_ = guess_layout(texts);
      if (layout_.columns == 0 && !texts.empty()) layout_ = guess_layout({texts.front()});
    } else {
      layout_ = {TableLayout::kBlanks, false, options_.header.size()};
    }
    long_ = layout_.has_header ? long_form_of(split_fields(texts.front(), layout_.delimiter)) : bare_long_form(texts);
    if (!texts.empty() && !layout_.has_header && !long_) name_columns(unnamed_header(texts));
    for (const KeptLine& line : kept_) data(line.text, line.number, sink, damage);
    kept_ = {};
  }

  /// Where each row holds one number and its name: "250 val 3.1", "step,metric,value".
  struct LongForm {
    std::size_t name = 0;
    std::size_t value = 0;
    std::vector<std::string> header;
  };

  /// The long form that a header tells of.
  static std::optional<LongForm> long_form_of(std::vector<std::string> header) {
    static constexpr std::array<std::string_view, 6> kNames = {"metric", "name", "tag", "key", "series", "variable"};
    LongForm form;
    bool named = false;
    bool valued = false;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const bool name = std::find(kNames.begin(), kNames.end(), header[i]) != kNames.end();
      if (name) form.name = i;
      if (header[i] == "value") form.value = i;
      named |= name;
      valued |= header[i] == "value";
    }
    if (!named || !valued || header.size() > 8) return std::nullopt;
    form.header = std::move(header);
    return form;
  }

  /// Three columns without header: a step, a word and a number.
  [[nodiscard]] std::optional<LongForm> bare_long_form(const std::vector<std::string>& lines) const {
    if (layout_.columns != 3 || lines.size() < 2 || !options_.header.empty()) return std::nullopt;
    for (const std::string& line : lines) {
      const std::vector<std::string> fields = split_fields(line, layout_.delimiter);
      if (fields.size() != 3) return std::nullopt;
      const CellValue step = read_cell(fields[0]);
      const bool counts = step.kind == CellKind::number && step.value >= 0 && step.value == std::floor(step.value);
      if (!counts || read_cell(fields[1]).kind != CellKind::text ||
          read_cell(fields[2], layout_.decimal_comma).kind != CellKind::number) {
        return std::nullopt;
      }
    }
    return LongForm{1, 2, {"step", "", ""}};
  }

  /// A row of the long form. A number under the name of a phase is the loss: nobody writes another one like that.
  void long_row(std::string_view line, std::uint64_t number, EventSink& sink, DamageReport& damage) {
    const std::vector<std::string> fields = split_fields(line, layout_.delimiter);
    if (layout_.has_header && fields == long_->header) return;
    const CellValue value =
        fields.size() == long_->header.size() ? read_cell(fields[long_->value], layout_.decimal_comma) : CellValue{};
    if (value.kind != CellKind::number || fields[long_->name].empty()) {
      damage.add({{}, 0, number, fmt::format("'{}' is no row of the table", quotable(line)), line.size()});
      return;
    }
    cells_.clear();
    wall_time_ = kNoTime;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i == long_->name || i == long_->value) continue;
      if (const double time = read_date_time(fields[i]); !std::isnan(time)) wall_time_ = time;
      const CellValue cell = read_cell(fields[i]);
      if (cell.kind == CellKind::number) cells_.push_back({rows_.column(long_->header[i]), cell.value});
    }
    const std::string& name = fields[long_->name];
    const bool phase = is_phase(name);
    cells_.push_back({rows_.column(phase ? "loss" : std::string_view(name)), value.value});
    rows_.row({cells_, wall_time_, phase ? std::string_view(name) : std::string_view{}}, sink);
  }

  /// Names for columns that have none: a first column that counts up is the step.
  [[nodiscard]] std::vector<std::string> unnamed_header(const std::vector<std::string>& lines) const {
    if (!options_.header.empty()) return options_.header;
    if (layout_.columns == 1 && !options_.only_column.empty()) return {options_.only_column};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layout_.columns; ++i) names.push_back(fmt::format("column {}", i + 1));
    // A counter may begin anew, as where a second launch writes to the same file.
    double last = -1;
    std::size_t stands = 0;
    bool counts = lines.size() > 1 && layout_.columns > 1;
    std::vector<bool> whole(layout_.columns, true);
    for (const std::string& line : lines) {
      const std::vector<std::string> fields = split_fields(line, layout_.delimiter);
      for (std::size_t i = 0; i < std::min(fields.size(), whole.size()); ++i) {
        const CellValue cell = read_cell(fields[i]);
        whole[i] = whole[i] && cell.kind == CellKind::number && cell.value == std::floor(cell.value) &&
                   fields[i].find('.') == std::string::npos;
      }
      const CellValue first = read_cell(fields.front());
      stands += first.value == last ? 1 : 0;
      counts =
          counts && first.kind == CellKind::number && (first.value >= last || (first.value >= 0 && first.value <= 1));
      last = first.value;
    }
    counts = counts && whole.front() && 2 * stands < lines.size();
    if (counts) names.front() = "step";
    name_by_file(names, whole, counts);
    return names;
  }

  /// "0 2.31" in train_loss.txt, "-118.8 3" in rewards.txt: the one column that is no count is what the file is called
  /// after.
  void name_by_file(std::vector<std::string>& names, const std::vector<bool>& whole, bool counts) const {
    if (merit_of(options_.only_column) == Merit::none) return;
    const auto figures = std::count(whole.begin(), whole.end(), false);
    if (figures == 1) {
      names[static_cast<std::size_t>(std::find(whole.begin(), whole.end(), false) - whole.begin())] =
          options_.only_column;
    } else if (figures == 0 && counts && names.size() == 2) {
      names.back() = options_.only_column;
    }
  }

  void name_columns(const std::vector<std::string>& names) {
    columns_.clear();
    std::vector<std::string> taken;
    for (std::string name : names) {
      for (const auto& [from, to] : options_.rename) {
        if (name == from) name = to;
      }
      // A table made with pandas has an index without a name: the order of the rows, nothing more.
      const bool index = name.empty() || name.starts_with("Unnamed:");
      const auto twins = std::count(taken.begin(), taken.end(), name);
      if (names.size() <= kTwinsLookedFor) taken.push_back(name);
      if (twins > 0) name += fmt::format(".{}", twins);
      ColumnState column;
      column.name = name;
      column.id = index ? kIgnored : rows_.column(name);
      column.phase = is_phase_column(name);
      columns_.push_back(std::move(column));
    }
    // Our own tables say by their first two columns what the axis is; other counters in them are series.
    if (names.size() > 1 && names[0] == "step" && names[1] == "wall_time") rows_.tell_axis(columns_[0].id);
  }

  void data(std::string_view line, std::uint64_t number, EventSink& sink, DamageReport& damage) {
    if (long_) return long_row(line, number, sink, damage);
    if (layout_.has_header && (columns_.empty() || line == header_)) return header(line);
    cells_.clear();
    prefix_ = {};
    wall_time_ = kNoTime;
    texts_ = 0;
    row_damage_.clear();
    const std::size_t fields = line.find('"') == std::string_view::npos && layout_.delimiter != '|' &&
                                       layout_.delimiter != TableLayout::kBlanks
                                   ? plain_fields(line, number)
                                   : any_fields(line, number);
    if (cells_.empty() && texts_ > 0 && prefix_.empty()) return odd_line(line, number, damage);
    if (is_shifted(fields)) {
      damage.add({{},
                  0,
                  number,
                  fmt::format("a row of {} fields in a table of {} columns: left out, since nobody knows which are "
                              "missing",
                              fields, columns_.size()),
                  line.size()});
      return;
    }
    for (Damage& item : row_damage_) damage.add(std::move(item));
    const Row row{cells_, wall_time_, prefix_};
    bare_rows_.row(texts_ == 0 && fields == columns_.size() && rows_.only_counts(row), number);
    if (fields > columns_.size()) {
      damage.add(
          {{},
           0,
           number,
           fmt::format("a row of {} fields in a table of {} columns: the rest is left out", fields, columns_.size()),
           0});
    }
    rows_.row(row, sink);
  }

  /// Whether a row that is too short follows rows that were complete: a last evaluation of its own, or a cut-off line.
  bool is_shifted(std::size_t fields) {
    if (!layout_.has_header || fields >= columns_.size()) {
      ++complete_rows_;
      return false;
    }
    short_rows_usual_ |= complete_rows_ < kCompleteRows;
    return !short_rows_usual_;
  }

  void header(std::string_view line) {
    if (!columns_.empty()) rows_.new_segment();
    header_ = line;
    name_columns(split_fields(line, layout_.delimiter));
  }

  /// A line without any number: another header when most of its names are known, else damage.
  void odd_line(std::string_view line, std::uint64_t number, DamageReport& damage) {
    const std::vector<std::string> fields = split_fields(line, layout_.delimiter);
    const auto known = std::count_if(fields.begin(), fields.end(), [&](const std::string& field) {
      return std::any_of(columns_.begin(), columns_.end(),
                         [&](const ColumnState& column) { return column.name == field; });
    });
    if (layout_.has_header && fields.size() > 1 && fields.size() <= kTwinsLookedFor &&
        static_cast<std::size_t>(known) * 2 >= fields.size()) {
      return header(line);
    }
    // A line of a table that only has texts, in columns known for texts, is no damage.
    if (fields.size() == columns_.size() && only_text_columns()) return;
    damage.add({{}, 0, number, fmt::format("'{}' is no row of the table", quotable(line)), line.size()});
  }

  [[nodiscard]] bool only_text_columns() const {
    return std::all_of(columns_.begin(), columns_.end(),
                       [](const ColumnState& column) { return column.numbers <= column.texts; });
  }

  /// Fields of a line without quotes: numbers are read where they stand.
  std::size_t plain_fields(std::string_view line, std::uint64_t number) {
    const char* at = line.data();
    const char* const end = at + line.size();
    const char delimiter = layout_.delimiter;
    std::size_t field = 0;
    for (;; ++field) {
      while (at != end && *at == ' ') ++at;
      const char* stop = at;
      double value = 0;
      if (at != end && *at != delimiter) {
        const auto parsed = fast_float::from_chars(at, end, value);
        if (parsed.ec == std::errc() && (parsed.ptr == end || *parsed.ptr == delimiter)) {
          stop = parsed.ptr;
          take_number(field, value);
        } else {
          const void* found = std::memchr(at, delimiter, static_cast<std::size_t>(end - at));
          stop = found != nullptr ? static_cast<const char*>(found) : end;
          take_field(field, {at, static_cast<std::size_t>(stop - at)}, number);
        }
      }
      if (stop == end) return field + 1;
      at = stop + 1;
    }
  }

  std::size_t any_fields(std::string_view line, std::uint64_t number) {
    FieldCursor cursor(line, layout_.delimiter);
    std::string_view text;
    std::size_t field = 0;
    while (cursor.next(text)) take_field(field++, text, number);
    return field;
  }

  void take_number(std::size_t field, double value) {
    if (field >= columns_.size()) return;
    ColumnState& column = columns_[field];
    if (column.id == kIgnored) return;
    if (column.numbers++ == 0 && column.texts > 0) row_damage_.push_back(column.first_text);
    cells_.push_back({column.id, value});
  }

  void take_field(std::size_t field, std::string_view text, std::uint64_t number) {
    const CellValue cell = read_cell(text, layout_.decimal_comma);
    if (cell.kind == CellKind::number) return take_number(field, cell.value);
    if (cell.kind == CellKind::absent || field >= columns_.size()) return;
    ColumnState& column = columns_[field];
    ++texts_;
    text = trim(text);
    if (column.phase && is_phase(text)) {
      prefix_ = text;
      return;
    }
    if (const double time = read_date_time(text); !std::isnan(time)) {
      wall_time_ = time;
      return;
    }
    take_text(column, text, number);
  }

  void take_text(ColumnState& column, std::string_view text, std::uint64_t number) {
    if (column.id == kIgnored) return;
    // After this many texts and hardly a number a column is one of texts, even if some look like numbers.
    constexpr std::uint64_t kTextsOfTextColumn = 8;
    if (++column.texts >= kTextsOfTextColumn && column.texts > 4 * column.numbers) {
      column.id = kIgnored;
      return;
    }
    if (column.texts > 1 && column.numbers <= column.texts) return;
    Damage damaged{
        {}, 0, number, fmt::format("'{}' in column '{}' is not a number", quotable(text), quotable(column.name)), 0};
    if (column.numbers > 0) {
      row_damage_.push_back(std::move(damaged));
    } else {
      column.first_text = std::move(damaged);
    }
  }

  static constexpr std::uint64_t kCompleteRows = 3;  // after which a table is known to have complete rows
  static constexpr std::size_t kMostComments = 1000;
  static constexpr std::size_t kLongestKey = 100;
  // Twin names are looked for in tables up to this width; the search is quadratic.
  static constexpr std::size_t kTwinsLookedFor = 2000;

  TableOptions options_;
  LineSplitter lines_;
  RowAssembler rows_;
  std::vector<KeptLine> kept_;
  std::vector<KeptLine> comments_;  // above the table
  bool settled_ = false;
  TableLayout layout_;
  std::optional<LongForm> long_;
  std::uint64_t complete_rows_ = 0;
  bool short_rows_usual_ = false;
  std::string header_;
  std::vector<ColumnState> columns_;
  std::vector<Cell> cells_;
  std::string prefix_;
  double wall_time_ = kNoTime;
  std::size_t texts_ = 0;
  BareRows bare_rows_;
  std::vector<Damage> row_damage_;  // of the row being read, which may turn out to be no row
};

}  // namespace

std::vector<std::string> split_fields(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  FieldCursor cursor(line, delimiter);
  std::string_view field;
  while (cursor.next(field)) fields.emplace_back(field);
  return fields;
}

std::unique_ptr<Reader> make_table_reader(TableOptions options) {
  return std::make_unique<TableReader>(std::move(options));
}

}  // namespace osler
