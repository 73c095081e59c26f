// JSON documents: which parts of them are rows, which are columns, and which describe the run.
#include "formats/json/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "formats/decoder.h"
#include "formats/json/python_literal.h"
#include "formats/json/rows.h"
#include "formats/json/walk.h"
#include "formats/numbers.h"

namespace osler {
namespace {

// Everything is held in memory, and a log of this size should be JSON lines.
constexpr std::size_t kLargestDocument = std::size_t{1} << 30;

/// Keys that only say that a history follows, and so are no part of a series' name.
bool is_container(std::string_view key) {
  constexpr std::array<std::string_view, 12> kWords = {"log_history", "history", "logs",    "log",
                                                       "metrics",     "results", "records", "data",
                                                       "rows",        "entries", "epochs",  "steps"};
  return std::find(kWords.begin(), kWords.end(), key) != kWords.end();
}

bool is_index(std::string_view key) {
  return !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Rows that lie in one array.
struct Records {
  RowAssembler rows;
  JsonRow row{rows};
};

/// Sorts what a document holds: objects in arrays are rows, arrays of numbers are columns, the rest describes the run.
class DocumentVisitor final : public JsonVisitor {
 public:
  DocumentVisitor(EventSink& sink, std::string name) : sink_(sink), name_(std::move(name)) {}

  void begin_object() override {
    if (in_row()) {
      ++row_depth_;
      records_->row.begin_object();
      return;
    }
    const bool in_array = !levels_.empty() && levels_.back().array;
    if (in_array) return begin_row();
    levels_.push_back({join(), false});
  }
  void key(std::string_view name) override {
    if (in_row()) return records_->row.key(name);
    key_ = name;
  }
  void end_object() override {
    if (!in_row()) return levels_.pop_back();
    records_->row.end_object();
    if (--row_depth_ == 0) end_row();
  }
  void begin_array() override {
    if (in_row()) {
      ++row_depth_;
      records_->row.begin_array();
      return;
    }
    // [[time, step, value], ...]: the inner arrays are rows without names.
    if (!levels_.empty() && levels_.back().array) return begin_row(true);
    levels_.push_back({join(), true});
  }
  void end_array() override {
    if (!in_row()) return levels_.pop_back();
    records_->row.end_array();
    if (--row_depth_ == 0) end_row();
  }
  void number(double value) override {
    if (in_row()) return records_->row.number(value);
    add({CellKind::number, value}, fmt::format("{}", value));
  }
  void text(std::string_view value) override {
    if (in_row()) return records_->row.text(value);
    add(read_cell(value), std::string(value.substr(0, 1000)));
  }
  void nothing() override {
    if (in_row()) return records_->row.nothing();
    add({}, "null");
  }
  void truth(bool value) override {
    if (in_row()) return records_->row.truth(value);
    add({}, value ? "true" : "false");
  }

  /// Emits the columns, which are complete only now.
  void finish() {
    for (auto& [path, records] : all_records_) records.rows.finish(sink_);
    finish_columns();
    if (events_seen_ || scalars_.empty()) return;
    // A document of single numbers is one row.
    RowAssembler rows;
    std::vector<Cell> cells;
    for (const auto& [name, value] : scalars_) cells.push_back({rows.column(name), value});
    rows.row({cells, kNoTime, {}}, sink_);
    rows.finish(sink_);
  }

 private:
  struct Level {
    std::string path;
    bool array = false;
  };

  [[nodiscard]] bool in_row() const { return row_depth_ > 0; }

  [[nodiscard]] std::string join() const {
    if (levels_.empty()) return {};
    const std::string& path = levels_.back().path;
    if (levels_.back().array || is_container(key_)) return path;
    return path.empty() ? key_ : path + "/" + key_;
  }

  void begin_row(bool array = false) {
    const std::string& path = levels_.back().path;
    records_ = &all_records_.try_emplace(path).first->second;
    records_->row.clear();
    row_depth_ = 1;
    row_is_array_ = array;
    if (array) {
      records_->row.begin_array();
    } else {
      records_->row.begin_object();
    }
  }

  void end_row() {
    events_seen_ = true;
    if (row_is_array_) return end_unnamed_row();
    Row row = records_->row.row();
    const std::string& path = levels_.back().path;
    if (row.prefix.empty()) row.prefix = path;
    records_->rows.row(row, sink_);
  }

  /// The columns of rows without keys. TensorBoard's JSON download has [wall time, step, value]; others write
  /// [step, value], or [step, training loss, validation loss].
  static std::vector<std::string> unnamed_columns(const Row& row, const std::string& value) {
    constexpr double kLongAgo = 1e8;  // seconds after 1970: no download is of 1973, and hardly a run has as many steps
    if (row.cells.size() == 2) return {"step", value};
    if (row.cells.size() != 3) return {};
    const bool timed = !(row.cells[0].value < kLongAgo) || value.find("loss") == std::string::npos;
    if (timed) return {"wall_time", "step", value};
    return {"step", "train_loss", "val_loss"};
  }

  void end_unnamed_row() {
    const Row row = records_->row.row();
    const std::string& path = levels_.back().path;
    const std::string value = path.empty() ? name_ : path;
    const std::vector<std::string> names = unnamed_columns(row, value);
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < names.size(); ++i) {
      cells.push_back({records_->rows.column(names[i]), row.cells[i].value});
    }
    records_->rows.row({cells, row.wall_time, {}}, sink_);
  }

  void add(CellValue cell, const std::string& text) {
    if (levels_.empty()) return;
    const Level& level = levels_.back();
    // pandas writes a column as {"0": 1.5, "1": 1.2, ...}.
    if (level.array || is_index(key_)) {
      const std::string name = level.path.empty() ? name_ : level.path;
      std::vector<CellValue>& column = columns_[name];
      if (column.empty()) column_order_.push_back(name);
      column.push_back(cell.kind == CellKind::text ? CellValue{} : cell);
      return;
    }
    const std::string name = join();
    sink_.config(name, text);
    if (cell.kind == CellKind::number) scalars_.emplace_back(name, cell.value);
  }

  void finish_columns() {
    std::size_t longest = 0;
    std::map<std::size_t, std::vector<std::string>> by_length;
    for (const std::string& name : column_order_) {
      const auto& column = columns_.at(name);
      const bool numbers = std::any_of(column.begin(), column.end(),
                                       [](const CellValue& cell) { return cell.kind == CellKind::number; });
      if (!numbers) continue;
      longest = std::max(longest, column.size());
      by_length[column.size()].push_back(name);
    }
    for (const auto& [length, names] : by_length) emit_table(names, length, longest);
  }

  /// Columns of one length are rows side by side. Where they divide the longest evenly, they were taken once per epoch
  /// while that one was taken at each step.
  void emit_table(const std::vector<std::string>& names, std::size_t length, std::size_t longest) {
    events_seen_ = true;
    RowAssembler rows;
    std::vector<std::uint32_t> ids;
    for (const std::string& name : names) ids.push_back(rows.column(name));
    const bool scaled = length < longest && longest % length == 0;
    const std::uint32_t step = scaled ? rows.column("step") : 0;
    const std::size_t stride = longest / length;
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < length; ++i) {
      cells.clear();
      if (scaled) cells.push_back({step, static_cast<double>((i + 1) * stride - 1)});
      for (std::size_t column = 0; column < names.size(); ++column) {
        const CellValue& cell = columns_.at(names[column])[i];
        if (cell.kind == CellKind::number) cells.push_back({ids[column], cell.value});
      }
      rows.row({cells, kNoTime, {}}, sink_);
    }
    rows.finish(sink_);
  }

  EventSink& sink_;
  std::string name_;
  std::vector<Level> levels_;
  std::string key_;
  std::map<std::string, Records> all_records_;
  Records* records_ = nullptr;
  int row_depth_ = 0;
  bool row_is_array_ = false;
  bool events_seen_ = false;
  std::map<std::string, std::vector<CellValue>> columns_;
  std::vector<std::string> column_order_;
  std::vector<std::pair<std::string, double>> scalars_;
};

class DocumentReader final : public Reader {
 public:
  explicit DocumentReader(std::string name) : name_(std::move(name)) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink&, DamageReport&) override {
    if (text_.size() + bytes.size() > kLargestDocument) {
      text_ = {};
      return Error{ErrorCode::unsupported, "a JSON document of more than 1 GiB; JSON lines have no such limit", {}};
    }
    text_ += decoder_.decode(bytes);
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    text_ += decoder_.finish();
    if (begins_python_history(text_)) text_ = json_of_python(text_);
    JsonWalker walker;
    DocumentVisitor visitor(sink, name_);
    bool cut_off = false;
    std::size_t at = 0;
    for (JsonExtent extent = find_json(text_, at); extent.found; extent = find_json(text_, at)) {
      cut_off = !extent.closers.empty();
      at = cut_off ? text_.size() : extent.end;
      const std::string_view whole = std::string_view(text_).substr(extent.begin, extent.end - extent.begin);
      const auto walked =
          cut_off ? walker.walk(std::string(whole) + extent.closers, visitor) : walker.walk(whole, visitor);
      if (walked) continue;
      damage.add({{}, extent.begin, 0, walked.error().message + " (" + walked.error().context + ")", 0});
      break;  // the visitor stands in the middle of something
    }
    visitor.finish();
    text_ = {};
    if (cut_off) return Error{ErrorCode::truncated, "the JSON document is cut off", {}};
    return {};
  }

 private:
  std::string name_;
  TextDecoder decoder_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Reader> make_json_document_reader(std::string name) {
  return std::make_unique<DocumentReader>(std::move(name));
}

}  // namespace osler
