// A W&B offline run as a sink. Field numbers are those of the client's wandb_internal.proto.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "base/wall_clock.h"
#include "osler/recorder/sink.h"
#include "recorder/sinks/appended_file.h"
#include "recorder/sinks/step_rows.h"
#include "recorder/sinks/wandb_log.h"

namespace osler {
namespace {

using nlohmann::json;
using protozero::pbf_writer;
using recording::AppendedFile;
using recording::StepRow;

// Record: its number and one of many contents.
constexpr int kRecordNumber = 1;
constexpr int kRecordHistory = 2;
constexpr int kRecordSummary = 3;
constexpr int kRecordConfig = 5;
constexpr int kRecordRun = 17;
constexpr int kRecordExit = 18;
constexpr int kRecordHeader = 21;
// Items of histories, summaries and configurations.
constexpr int kItemKey = 1;
constexpr int kItemJson = 16;
constexpr int kItems = 1;
constexpr int kHistoryStep = 2;
// Fields of our own, which W&B passes over. Of the run: that "_step" is the axis, whatever other counters there are. Of
// the history: a histogram as exact as it was, and that "_runtime" is a series of the run and not W&B's own clock. Of
// the exit: that nobody said how the run ended, and the words in which it was said.
constexpr int kRunStepsTold = 15001;
constexpr int kHistoryDistribution = 15001;
constexpr int kHistoryRuntimeTold = 15002;
constexpr int kDistributionName = 1;
constexpr int kDistributionStep = 2;
constexpr int kDistributionFigures = 3;
constexpr int kDistributionLimits = 4;
constexpr int kDistributionCounts = 5;
constexpr std::string_view kRuntime = "_runtime";
constexpr int kExitUntold = 15001;
constexpr int kExitWords = 15002;

/// Numbers as the client writes them: what is not finite goes in quotes.
std::string json_number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return json(value).dump();
}

/// A configuration value: a number or truth value where it is one, else text.
std::string json_value(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_number() || parsed.is_boolean()) return text;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string item(std::string_view key, std::string_view value) {
  std::string message;
  pbf_writer writer(message);
  writer.add_string(kItemKey, key.data(), key.size());
  writer.add_string(kItemJson, value.data(), value.size());
  return message;
}

/// The edges that W&B wants: one more than there are counts.
std::string json_histogram(const Histogram& histogram) {
  json bins = json::array({std::min(histogram.min, histogram.limits.empty() ? histogram.min : histogram.limits[0])});
  for (const double limit : histogram.limits) bins.push_back(limit);
  return json{{"_type", "histogram"}, {"values", histogram.counts}, {"bins", bins}}.dump();
}

/// All that is known of a histogram; the JSON beside it has only edges and counts.
std::string exact_histogram(const Histogram& histogram, const std::string& name) {
  std::string message;
  pbf_writer writer(message);
  const std::array figures = {histogram.min, histogram.max,         histogram.count,
                              histogram.sum, histogram.sum_squares, histogram.wall_time};
  writer.add_string(kDistributionName, name);
  writer.add_int64(kDistributionStep, histogram.step);
  writer.add_packed_double(kDistributionFigures, figures.begin(), figures.end());
  writer.add_packed_double(kDistributionLimits, histogram.limits.begin(), histogram.limits.end());
  writer.add_packed_double(kDistributionCounts, histogram.counts.begin(), histogram.counts.end());
  return message;
}

class WandbSink final : public Sink {
 public:
  WandbSink(FileSystem& files, AppendedFile file, WandbOptions options, std::filesystem::path folder)
      : files_(files), file_(std::move(file)), options_(std::move(options)), folder_(std::move(folder)) {}

  std::string name() const override { return "W&B run " + folder_.string(); }

  /// The header of the file and the records that open every run.
  Result<void> start() {
    bytes_ = log_.header();
    std::string version;
    pbf_writer(version).add_string(1, "osler");
    pbf_writer(version).add_string(2, "0.40.0");  // the oldest client whose reader knows all records we write
    std::string header;
    pbf_writer(header).add_message(1, version);
    record(kRecordHeader, header);
    std::string run;
    pbf_writer writer(run);
    writer.add_string(1, options_.id);
    writer.add_string(3, options_.project);
    if (!options_.name.empty()) writer.add_string(8, options_.name);
    std::string time;
    const auto seconds = static_cast<std::int64_t>(std::floor(options_.wall_time));
    pbf_writer(time).add_int64(1, seconds);
    writer.add_message(17, time);
    writer.add_bool(kRunStepsTold, true);
    record(kRecordRun, run);
    return pass_on();
  }

  Result<void> write(const RecordBatch& batch) override {
    if (!batch.config.empty()) {
      std::string message;
      for (const auto& [key, value] : batch.config) {
        config_[key] = json_value(value);
        pbf_writer(message).add_message(kItems, item(key, config_[key]));
      }
      record(kRecordConfig, message);
    }
    for (const Mark& mark : batch.marks) {
      if (mark.kind == Mark::Kind::crashed || mark.kind == Mark::Kind::finished) end_ = mark;
    }
    for (const Histogram& histogram : batch.histograms) histograms_.emplace(histogram.step, histogram);
    const auto on_row = [&](const StepRow& row) { history(row, batch.names); };
    for (const Event& event : batch.events) rows_.add(event, on_row);
    names_.assign(batch.names.begin(), batch.names.end());
    return pass_on();
  }

  Result<void> close() override {
    rows_.finish([&](const StepRow& row) { history(row, names_); });
    while (!histograms_.empty()) {
      history(StepRow{histograms_.begin()->first, histograms_.begin()->second.wall_time, {}}, names_);
    }
    std::string summary;
    for (const auto& [key, value] : summary_) pbf_writer(summary).add_message(kItems, item(key, value));
    record(kRecordSummary, summary);
    std::string exit;
    pbf_writer writer(exit);
    // W&B takes a run without an exit for one that is still going on.
    writer.add_int32(1, end_ && end_->kind == Mark::Kind::crashed ? 1 : 0);
    writer.add_int32(2, static_cast<std::int32_t>(runtime_));
    if (end_) {
      writer.add_string(kExitWords, end_->text);
    } else {
      writer.add_bool(kExitUntold, true);
    }
    record(kRecordExit, exit);
    if (const auto passed = pass_on(); !passed) return passed.error();
    if (const auto synced = file_.sync(); !synced) return synced.error();
    return write_files();
  }

 private:
  void record(int field, const std::string& content) {
    std::string message;
    pbf_writer writer(message);
    writer.add_int64(kRecordNumber, ++number_);
    writer.add_message(static_cast<protozero::pbf_tag_type>(field), content);
    log_.append(message, bytes_);
  }

  /// One line of history, with the histograms up to its step. The row of the newest step waits until the next begins:
  /// W&B takes each step once.
  void history(const StepRow& row, std::span<const std::string> names) {
    std::string message;
    const auto put = [&](std::string_view key, const std::string& value) {
      pbf_writer(message).add_message(kItems, item(key, value));
      summary_[std::string(key)] = value;
    };
    bool runtime_told = false;
    for (const Event& event : row.values) {
      put(names[event.series], json_number(event.value));
      runtime_told |= names[event.series] == kRuntime;
    }
    while (!histograms_.empty() && histograms_.begin()->first <= row.step) {
      const Histogram& histogram = histograms_.begin()->second;
      pbf_writer(message).add_message(kItems, item(names[histogram.series], json_histogram(histogram)));
      pbf_writer(message).add_message(kHistoryDistribution, exact_histogram(histogram, names[histogram.series]));
      histograms_.erase(histograms_.begin());
    }
    runtime_ = std::isnan(row.wall_time) ? runtime_ : row.wall_time - options_.wall_time;
    put("_step", std::to_string(row.step));
    if (runtime_told) {
      pbf_writer(message).add_bool(kHistoryRuntimeTold, true);
    } else {
      put(kRuntime, json_number(runtime_));
    }
    if (!std::isnan(row.wall_time)) put("_timestamp", json_number(row.wall_time));
    std::string step;
    pbf_writer(step).add_int64(1, row.step);
    pbf_writer(message).add_message(kHistoryStep, step);
    record(kRecordHistory, message);
  }

  Result<void> pass_on() {
    auto written = file_.append(bytes_);
    bytes_.clear();
    return written;
  }

  /// What the client leaves beside the log, for people and tools that look there.
  Result<void> write_files() {
    std::string config = "wandb_version: 1\n";
    for (const auto& [key, value] : config_) {
      const std::string quoted = json(key).dump(-1, ' ', false, json::error_handler_t::replace);
      config += fmt::format("\n{}:\n  desc: null\n  value: {}\n", quoted, value);
    }
    std::string summary = "{";
    for (const auto& [key, value] : summary_) {
      const std::string quoted = json(key).dump(-1, ' ', false, json::error_handler_t::replace);
      summary += fmt::format("{}{}: {}", summary.size() > 1 ? ", " : "", quoted, value);
    }
    for (const auto& [name, text] :
         {std::pair("config.yaml", config), std::pair("wandb-summary.json", summary + "}")}) {
      auto file = recording::open_appended(files_, folder_ / "files" / name, WriteMode::truncate);
      if (!file) return file.error();
      if (const auto written = file->append(text); !written) return written.error();
    }
    return {};
  }

  FileSystem& files_;
  AppendedFile file_;
  WandbOptions options_;
  std::filesystem::path folder_;
  recording::WandbLogWriter log_;
  recording::StepRows rows_;
  std::string bytes_;
  std::int64_t number_ = 0;
  std::vector<std::string> names_;
  std::multimap<std::int64_t, Histogram> histograms_;  // by step, until their row comes
  std::map<std::string, std::string> config_;
  std::map<std::string, std::string> summary_;  // the newest value of each key, as JSON
  double runtime_ = 0;
  std::optional<Mark> end_;  // how the run ended, where it was said
};

std::string id_from(double wall_time) {
  static constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
  auto number = static_cast<std::uint64_t>(wall_time * 1e6) * 0x9E3779B97F4A7C15ULL;
  std::string id;
  for (int i = 0; i < 8; ++i, number /= kLetters.size()) id += kLetters[number % kLetters.size()];
  return id;
}

}  // namespace

Result<SinkPointer> wandb_sink(FileSystem& files, const std::filesystem::path& directory, const WandbOptions& options) {
  WandbOptions filled = options;
  if (std::isnan(filled.wall_time)) filled.wall_time = wall_seconds();
  if (filled.id.empty()) filled.id = id_from(filled.wall_time);
  const auto started = static_cast<std::time_t>(filled.wall_time);
  const auto folder =
      directory / "wandb" / fmt::format("offline-run-{:%Y%m%d_%H%M%S}-{}", fmt::localtime(started), filled.id);
  auto file = recording::open_appended(files, folder / fmt::format("run-{}.wandb", filled.id), WriteMode::truncate);
  if (!file) return file.error();
  auto sink = std::make_unique<WandbSink>(files, std::move(*file), std::move(filled), folder);
  if (const auto begun = sink->start(); !begun) return begun.error();
  return SinkPointer(std::move(sink));
}

}  // namespace osler
