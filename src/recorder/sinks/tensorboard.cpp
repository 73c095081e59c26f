// TensorBoard event files as a sink.
#include <fmt/format.h>

#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <unordered_set>

#include "base/crc32c.h"
#include "base/tensorboard_fields.h"
#include "base/wall_clock.h"
#include "osler/recorder/sink.h"
#include "recorder/sinks/appended_file.h"

namespace osler {
namespace {

using protozero::pbf_writer;
using recording::AppendedFile;

// Field numbers of TensorFlow's messages.
constexpr int kEventWallTime = 1;
constexpr int kEventStep = 2;
constexpr int kEventVersion = 3;
constexpr int kEventSummary = 5;
constexpr int kSummaryValue = 1;
constexpr int kValueTag = 1;
constexpr int kValueSimple = 2;
constexpr int kValueHistogram = 5;
constexpr int kValueTensor = 8;
constexpr int kValueMetadata = 9;
constexpr int kTensorType = 1;
constexpr int kTensorShape = 2;
constexpr int kTensorTexts = 8;
constexpr int kShapeDimension = 2;
constexpr int kDimensionSize = 1;
constexpr int kMetadataPlugin = 1;
constexpr int kMetadataClass = 4;
constexpr int kPluginName = 1;
constexpr int kTypeString = 7;
constexpr int kClassTensor = 2;

void append_fixed(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

/// Length, checksum of the length, data, checksum of the data.
void append_record(std::string& bytes, std::string_view data) {
  std::string length;
  append_fixed(length, data.size(), 8);
  bytes += length;
  append_fixed(bytes, masked_crc32c(crc32c(std::as_bytes(std::span(length)))), 4);
  bytes += data;
  append_fixed(bytes, masked_crc32c(crc32c(std::as_bytes(std::span(data)))), 4);
}

std::string metadata(std::string_view plugin, int data_class) {
  std::string name;
  pbf_writer(name).add_string(kPluginName, plugin.data(), plugin.size());
  std::string message;
  pbf_writer writer(message);
  writer.add_message(kMetadataPlugin, name);
  writer.add_enum(kMetadataClass, data_class);
  return message;
}

std::string scalar_value(std::string_view tag, double value, bool exact) {
  const auto narrow = static_cast<float>(value);
  std::string message;
  pbf_writer writer(message);
  writer.add_string(kValueTag, tag.data(), tag.size());
  writer.add_float(kValueSimple, narrow);
  const bool lost = static_cast<double>(narrow) != value && !std::isnan(value);
  if (exact && lost) writer.add_double(kExactScalarField, value);
  return message;
}

std::string text_value(std::string_view tag, std::string_view text) {
  std::string dimension;
  pbf_writer(dimension).add_int64(kDimensionSize, 1);
  std::string shape;
  pbf_writer(shape).add_message(kShapeDimension, dimension);
  std::string tensor;
  pbf_writer inner(tensor);
  inner.add_enum(kTensorType, kTypeString);
  inner.add_message(kTensorShape, shape);
  inner.add_bytes(kTensorTexts, text.data(), text.size());
  std::string message;
  pbf_writer writer(message);
  writer.add_string(kValueTag, tag.data(), tag.size());
  writer.add_message(kValueTensor, tensor);
  writer.add_message(kValueMetadata, metadata("text", kClassTensor));
  return message;
}

std::string histogram_value(std::string_view tag, const Histogram& histogram, bool figures_beside) {
  const double figures[] = {histogram.min, histogram.max, histogram.count, histogram.sum, histogram.sum_squares};
  std::string proto;
  pbf_writer inner(proto);
  for (int field = 1; field <= 5; ++field)
    inner.add_double(static_cast<protozero::pbf_tag_type>(field), figures[field - 1]);
  inner.add_packed_double(6, histogram.limits.begin(), histogram.limits.end());
  inner.add_packed_double(7, histogram.counts.begin(), histogram.counts.end());
  std::string message;
  pbf_writer writer(message);
  writer.add_string(kValueTag, tag.data(), tag.size());
  writer.add_message(kValueHistogram, proto);
  if (figures_beside) writer.add_bool(kFiguresBesideField, true);
  return message;
}

class TensorBoardSink final : public Sink {
 public:
  TensorBoardSink(AppendedFile file, bool exact) : file_(std::move(file)), exact_(exact) {}

  std::string name() const override { return "TensorBoard file " + file_.path().string(); }

  /// The record that every event file begins with.
  Result<void> start(double wall_time) {
    std::string event;
    pbf_writer writer(event);
    writer.add_double(kEventWallTime, wall_time);
    writer.add_string(kEventVersion, "brain.Event:2");
    append_record(bytes_, event);
    return pass_on();
  }

  Result<void> write(const RecordBatch& batch) override {
    // Under a name of their own: TensorBoard takes a tag for what it first saw under it, and "lr" is a series as well.
    for (const auto& [key, value] : batch.config) event(0, wall_seconds(), {text_value("config/" + key, value)});
    for (const Mark& mark : batch.marks) {
      static constexpr const char* kTags[] = {"mark/restart", "mark/finished", "mark/crashed", "mark/note"};
      const char* tag = kTags[static_cast<std::size_t>(mark.kind)];
      event(mark.step, mark.wall_time, {text_value(tag, mark.text)});
    }
    look_for_figures(batch);
    for (const Histogram& histogram : batch.histograms) {
      const std::string& tag = batch.names[histogram.series];
      event(histogram.step, histogram.wall_time, {histogram_value(tag, histogram, with_figures_.contains(tag))});
    }
    scalars(batch);
    return pass_on();
  }

  Result<void> close() override { return file_.sync(); }

 private:
  /// Our readers tell a histogram's mean as TAG#mean; where that series is among those written, it comes back by
  /// itself.
  void look_for_figures(const RecordBatch& batch) {
    constexpr std::string_view kMean = "#mean";
    for (; names_seen_ < batch.names.size(); ++names_seen_) {
      const std::string_view name = batch.names[names_seen_];
      if (name.ends_with(kMean)) with_figures_.emplace(name.substr(0, name.size() - kMean.size()));
    }
  }

  /// Values of one moment share an event.
  void scalars(const RecordBatch& batch) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      const Event& now = batch.events[i];
      values.push_back(scalar_value(batch.names[now.series], now.value, exact_));
      const bool last = i + 1 == batch.events.size();
      if (!last && batch.events[i + 1].step == now.step && batch.events[i + 1].wall_time == now.wall_time) continue;
      event(now.step, now.wall_time, values);
      values.clear();
    }
  }

  void event(std::int64_t step, double wall_time, const std::vector<std::string>& values) {
    std::string summary;
    pbf_writer inner(summary);
    for (const std::string& value : values) inner.add_message(kSummaryValue, value);
    std::string message;
    pbf_writer writer(message);
    writer.add_double(kEventWallTime, std::isnan(wall_time) ? 0 : wall_time);
    if (step != 0) writer.add_int64(kEventStep, step);
    writer.add_message(kEventSummary, summary);
    append_record(bytes_, message);
  }

  Result<void> pass_on() {
    auto written = file_.append(bytes_);
    bytes_.clear();
    return written;
  }

  AppendedFile file_;
  bool exact_;
  std::string bytes_;
  std::size_t names_seen_ = 0;
  std::unordered_set<std::string> with_figures_;  // tags whose figures are series of their own
};

}  // namespace

Result<SinkPointer> tensorboard_sink(FileSystem& files, const std::filesystem::path& directory,
                                     const TensorBoardOptions& options) {
  const double start = std::isnan(options.wall_time) ? wall_seconds() : options.wall_time;
  // Several files of one second and folder differ by a number behind the name; an existing file is never touched.
  for (int number = 0;; ++number) {
    const auto path =
        directory / fmt::format("events.out.tfevents.{:.0f}.{}.{}", std::floor(start), options.host, number);
    if (files.info(path)) continue;
    auto file = recording::open_appended(files, path, WriteMode::truncate);
    if (!file) return file.error();
    auto sink = std::make_unique<TensorBoardSink>(std::move(*file), options.exact);
    if (const auto started = sink->start(start); !started) return started.error();
    return SinkPointer(std::move(sink));
  }
}

}  // namespace osler
