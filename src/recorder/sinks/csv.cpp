// A CSV table as a sink.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "osler/recorder/sink.h"
#include "recorder/sinks/appended_file.h"
#include "recorder/sinks/step_rows.h"

namespace osler {
namespace {

using recording::AppendedFile;
using recording::StepRow;
using recording::StepRows;

constexpr std::size_t kCopyBytes = 1 << 18;

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

class CsvSink final : public Sink {
 public:
  CsvSink(FileSystem& files, AppendedFile file) : files_(files), file_(std::move(file)) {}

  std::string name() const override { return "CSV table " + file_.path().string(); }

  Result<void> write(const RecordBatch& batch) override {
    if (failure_) return *failure_;
    const auto columns = widen(batch);
    if (!columns) failure_ = columns.error();
    if (!columns) return columns.error();
    std::string lines;
    const auto on_row = [&](const StepRow& row) { append_row(row, lines); };
    StepRows rows;
    for (const Event& event : batch.events) rows.add(event, on_row);
    rows.finish(on_row);
    return file_.append(lines);
  }

  Result<void> close() override { return file_.sync(); }

 private:
  static constexpr std::size_t kNoColumn = SIZE_MAX;

  [[nodiscard]] std::string header() const {
    std::string line = "step,wall_time";
    for (const std::string& name : names_) line += "," + field(name);
    return line + "\n";
  }

  /// Gives every series with values a column; where the file has lines already it is written anew with them.
  Result<void> widen(const RecordBatch& batch) {
    const std::size_t before = names_.size();
    columns_.resize(batch.names.size(), kNoColumn);
    for (const Event& event : batch.events) {
      if (columns_[event.series] != kNoColumn) continue;
      columns_[event.series] = names_.size();
      names_.push_back(batch.names[event.series]);
    }
    if (names_.size() == before) return {};
    if (before == 0) return file_.append(header());
    const std::filesystem::path wide = file_.path().string() + ".wider";
    auto made = recording::open_appended(files_, wide, WriteMode::truncate);
    if (!made) return made.error();
    const auto copied = copy_into(*made, std::string(names_.size() - before, ','));
    if (!copied) return copied.error();
    if (const auto renamed = files_.rename(wide, file_.path()); !renamed) return renamed.error();
    auto again = recording::open_appended(files_, file_.path(), WriteMode::append);
    if (!again) return again.error();
    file_ = std::move(*again);
    return {};
  }

  /// Copies the lines behind the header, each with `more` at its end. Our lines have no quoted line ends.
  Result<void> copy_into(AppendedFile& to, const std::string& more) {
    auto from = files_.open_read(file_.path());
    if (!from) return from.error();
    if (const auto put = to.append(header()); !put) return put.error();
    std::string block(kCopyBytes, '\0');
    bool in_header = true;
    for (;;) {
      const auto got = (*from)->read(std::as_writable_bytes(std::span(block)));
      if (!got) return got.error();
      if (*got == 0) return to.sync();
      std::string copy;
      for (const char c : std::string_view(block).substr(0, *got)) {
        if (!in_header && c == '\n') copy += more;
        if (!in_header) copy += c;
        if (c == '\n') in_header = false;
      }
      if (const auto put = to.append(copy); !put) return put.error();
    }
  }

  void append_row(const StepRow& row, std::string& lines) {
    cells_.assign(names_.size(), {});
    for (const Event& event : row.values) cells_[columns_[event.series]] = fmt::format("{}", event.value);
    lines += fmt::format("{},", row.step);
    if (!std::isnan(row.wall_time)) lines += fmt::format("{:.6f}", row.wall_time);
    for (const std::string& cell : cells_) {
      lines += ',';
      lines += cell;
    }
    lines += '\n';
  }

  FileSystem& files_;
  AppendedFile file_;
  std::optional<Error> failure_;
  std::vector<std::size_t> columns_;  // by series
  std::vector<std::string> names_;    // by column
  std::vector<std::string> cells_;    // of the row being written
};

}  // namespace

Result<SinkPointer> csv_sink(FileSystem& files, const std::filesystem::path& path) {
  auto file = recording::open_appended(files, path, WriteMode::truncate);
  if (!file) return file.error();
  return SinkPointer(std::make_unique<CsvSink>(files, std::move(*file)));
}

}  // namespace osler
