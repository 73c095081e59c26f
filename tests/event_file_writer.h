// EventFileWriter: writes TensorBoard event files for tests and benchmarks, in all the ways trainers do.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"

namespace osler::testing {

/// Collects records in memory. The methods append one event each.
class EventFileWriter {
 public:
  /// Starts with the version record that every writer puts first.
  EventFileWriter() {
    std::string event;
    protozero::pbf_writer(event).add_double(1, kStart);
    protozero::pbf_writer(event).add_string(3, "brain.Event:2");
    record(event);
  }

  /// A scalar as TensorFlow 1 and PyTorch write it.
  void scalar(std::string_view tag, std::int64_t step, float value) {
    std::string message;
    protozero::pbf_writer(message).add_string(1, tag.data(), tag.size());
    protozero::pbf_writer(message).add_float(2, value);
    summary(step, {message});
  }

  /// Several scalars in one event, as merged summaries are.
  void scalars(std::int64_t step, const std::vector<std::pair<std::string, float>>& values) {
    std::vector<std::string> messages;
    for (const auto& [tag, value] : values) {
      messages.emplace_back();
      protozero::pbf_writer(messages.back()).add_string(1, tag);
      protozero::pbf_writer(messages.back()).add_float(2, value);
    }
    summary(step, messages);
  }

  /// A tensor message (see `tensor_of`) with its plugin, as TensorFlow 2 writes everything.
  void tensor(std::string_view tag, std::int64_t step, std::string_view plugin, const std::string& tensor) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_string(1, tag.data(), tag.size());
    writer.add_message(8, tensor);
    if (!plugin.empty()) writer.add_message(9, metadata(plugin, {}));
    summary(step, {message});
  }

  /// Numbers as a tensor of `dtype` whose bytes are `content`.
  static std::string tensor_of(int dtype, const std::string& content, const std::vector<std::int64_t>& shape = {}) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_int32(1, dtype);
    writer.add_message(2, shape_of(shape));
    writer.add_bytes(4, content);
    return message;
  }

  /// One float as a tensor, in the field that small tensors use.
  static std::string float_tensor(float value) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_int32(1, 1);
    writer.add_message(2, std::string());
    writer.add_packed_float(5, &value, &value + 1);
    return message;
  }

  static std::string text_tensor(const std::string& text) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_int32(1, 7);
    writer.add_bytes(8, text);
    return message;
  }

  /// A histogram as TensorFlow 1 and PyTorch write it.
  struct Histogram {
    double min = 0;
    double max = 0;
    double num = 0;
    double sum = 0;
    double sum_squares = 0;
    std::vector<double> limits;
    std::vector<double> counts;
  };
  void histogram(std::string_view tag, std::int64_t step, const Histogram& histogram) {
    std::string proto;
    protozero::pbf_writer writer(proto);
    writer.add_double(1, histogram.min);
    writer.add_double(2, histogram.max);
    writer.add_double(3, histogram.num);
    writer.add_double(4, histogram.sum);
    writer.add_double(5, histogram.sum_squares);
    writer.add_packed_double(6, histogram.limits.begin(), histogram.limits.end());
    writer.add_packed_double(7, histogram.counts.begin(), histogram.counts.end());
    std::string message;
    protozero::pbf_writer(message).add_string(1, tag.data(), tag.size());
    protozero::pbf_writer(message).add_message(5, proto);
    summary(step, {message});
  }

  /// Hyperparameters as the hparams plugin stores them: one number and one text.
  void hparams(const std::string& number_name, double number, const std::string& text_name, const std::string& text) {
    std::string number_value;
    protozero::pbf_writer(number_value).add_double(2, number);
    std::string text_value;
    protozero::pbf_writer(text_value).add_string(3, text);
    std::string start;
    protozero::pbf_writer(start).add_message(1, map_entry(number_name, number_value));
    protozero::pbf_writer(start).add_message(1, map_entry(text_name, text_value));
    std::string content;
    protozero::pbf_writer(content).add_message(3, start);
    std::string message;
    protozero::pbf_writer(message).add_string(1, "_hparams_/session_start_info");
    protozero::pbf_writer(message).add_message(9, metadata("hparams", content));
    summary(0, {message});
  }

  /// The mark of a session that starts at `step` and makes void what came from there on.
  void session_start(std::int64_t step, double wall_time = kStart) {
    std::string log;
    protozero::pbf_writer(log).add_int32(1, 1);
    std::string event;
    protozero::pbf_writer(event).add_double(1, wall_time);
    protozero::pbf_writer(event).add_int64(2, step);
    protozero::pbf_writer(event).add_message(7, log);
    record(event);
  }

  /// Any bytes as a record with good checksums.
  void record(std::string_view data) {
    const std::uint64_t length = data.size();
    append(&length, sizeof length);
    const std::uint32_t length_crc = masked_crc32c(crc32c(std::as_bytes(std::span(&length, 1))));
    append(&length_crc, sizeof length_crc);
    bytes_ += data;
    const std::uint32_t data_crc = masked_crc32c(crc32c(std::as_bytes(std::span(data))));
    append(&data_crc, sizeof data_crc);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  static constexpr double kStart = 1700000000;

 private:
  void summary(std::int64_t step, const std::vector<std::string>& values) {
    std::string message;
    for (const std::string& value : values) protozero::pbf_writer(message).add_message(1, value);
    std::string event;
    protozero::pbf_writer(event).add_double(1, kStart + static_cast<double>(step));
    // Protocol buffers leave out what is zero.
    if (step != 0) protozero::pbf_writer(event).add_int64(2, step);
    protozero::pbf_writer(event).add_message(5, message);
    record(event);
  }

  static std::string metadata(std::string_view plugin, const std::string& content) {
    std::string data;
    protozero::pbf_writer(data).add_string(1, plugin.data(), plugin.size());
    if (!content.empty()) protozero::pbf_writer(data).add_bytes(2, content);
    std::string message;
    protozero::pbf_writer(message).add_message(1, data);
    return message;
  }

  static std::string shape_of(const std::vector<std::int64_t>& sizes) {
    std::string shape;
    for (const std::int64_t size : sizes) {
      std::string dimension;
      protozero::pbf_writer(dimension).add_int64(1, size);
      protozero::pbf_writer(shape).add_message(2, dimension);
    }
    return shape;
  }

  static std::string map_entry(const std::string& key, const std::string& value) {
    std::string entry;
    protozero::pbf_writer(entry).add_string(1, key);
    protozero::pbf_writer(entry).add_message(2, value);
    return entry;
  }

  void append(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
};

}  // namespace osler::testing
