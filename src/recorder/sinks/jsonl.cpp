// JSON lines as a sink.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "osler/recorder/sink.h"
#include "recorder/sinks/appended_file.h"
#include "recorder/sinks/step_rows.h"
#include "run/mark_kind.h"

namespace osler {
namespace {

using recording::AppendedFile;
using recording::StepRow;
using recording::StepRows;

/// A number in the shortest form that gives it back. What is not finite is written as Python writes it.
void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value > 0 ? "Infinity" : "-Infinity";
  } else {
    fmt::format_to(std::back_inserter(text), "{}", value);
  }
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class JsonLinesSink final : public Sink {
 public:
  explicit JsonLinesSink(AppendedFile file) : file_(std::move(file)) {}

  std::string name() const override { return "JSON lines " + file_.path().string(); }

  Result<void> write(const RecordBatch& batch) override {
    std::string lines;
    if (!batch.config.empty()) {
      for (const auto& [key, value] : batch.config) config_[key] = value;
      const auto text = config_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      lines += fmt::format("{{\"config\": {}}}\n", text);
    }
    for (const Mark& mark : batch.marks) {
      lines += fmt::format("{{\"mark\": \"{}\", \"at\": \"step {}\", \"text\": {}}}\n", to_string(mark.kind), mark.step,
                           json_text(mark.text));
    }
    while (keys_.size() < batch.names.size()) keys_.push_back(json_text(batch.names[keys_.size()]));
    const auto on_row = [&](const StepRow& row) { append_row(row, lines); };
    StepRows rows;
    for (const Event& event : batch.events) rows.add(event, on_row);
    rows.finish(on_row);
    return file_.append(lines);
  }

  Result<void> close() override { return file_.sync(); }

 private:
  void append_row(const StepRow& row, std::string& lines) const {
    lines += fmt::format("{{\"step\": {}", row.step);
    // Written where it is not known, too: by these two keys our reader knows which of many counters is the step.
    lines +=
        std::isnan(row.wall_time) ? ", \"wall_time\": null" : fmt::format(", \"wall_time\": {:.6f}", row.wall_time);
    for (const Event& event : row.values) {
      lines += ", ";
      lines += keys_[event.series];
      lines += ": ";
      append_number(lines, event.value);
    }
    lines += "}\n";
  }

  AppendedFile file_;
  nlohmann::json config_ = nlohmann::json::object();
  std::vector<std::string> keys_;  // by series, in quotes
};

}  // namespace

Result<SinkPointer> jsonl_sink(FileSystem& files, const std::filesystem::path& path) {
  auto file = recording::open_appended(files, path, WriteMode::append);
  if (!file) return file.error();
  return SinkPointer(std::make_unique<JsonLinesSink>(std::move(*file)));
}

}  // namespace osler
