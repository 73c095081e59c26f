// Decoding tensors and histograms.
#include "formats/tensorboard/tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <protozero/pbf_message.hpp>

namespace osler {
namespace {

enum class Dtype : std::int32_t {
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  text = 7,
  int64 = 9,
  boolean = 10,
  bfloat16 = 14,
  uint16 = 17,
  float16 = 19,
  uint32 = 22,
  uint64 = 23,
};

enum class TensorField : protozero::pbf_tag_type {
  dtype = 1,
  shape = 2,
  content = 4,
  float_val = 5,
  double_val = 6,
  int_val = 7,
  string_val = 8,
  int64_val = 10,
  bool_val = 11,
  half_val = 13,
  uint32_val = 16,
  uint64_val = 17,
};

enum class HistogramField : protozero::pbf_tag_type {
  min = 1,
  max = 2,
  num = 3,
  sum = 4,
  sum_squares = 5,
  limits = 6,
  counts = 7,
};

double from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double from_half(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 0x1F) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <typename T, typename Convert>
void unpack(std::string_view content, std::vector<double>& numbers, Convert&& convert) {
  const std::size_t count = content.size() / sizeof(T);
  if (count > kMostElements) return;
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, content.data() + i * sizeof(T), sizeof(T));
    numbers.push_back(convert(value));
  }
}

template <typename T>
void unpack(std::string_view content, std::vector<double>& numbers) {
  unpack<T>(content, numbers, [](T value) { return static_cast<double>(value); });
}

void unpack_content(Dtype dtype, std::string_view content, std::vector<double>& numbers) {
  switch (dtype) {
    case Dtype::float32:
      return unpack<float>(content, numbers);
    case Dtype::float64:
      return unpack<double>(content, numbers);
    case Dtype::int32:
      return unpack<std::int32_t>(content, numbers);
    case Dtype::int64:
      return unpack<std::int64_t>(content, numbers);
    case Dtype::int16:
      return unpack<std::int16_t>(content, numbers);
    case Dtype::int8:
      return unpack<std::int8_t>(content, numbers);
    case Dtype::uint8:
    case Dtype::boolean:
      return unpack<std::uint8_t>(content, numbers);
    case Dtype::uint16:
      return unpack<std::uint16_t>(content, numbers);
    case Dtype::uint32:
      return unpack<std::uint32_t>(content, numbers);
    case Dtype::uint64:
      return unpack<std::uint64_t>(content, numbers);
    case Dtype::bfloat16:
      return unpack<std::uint16_t>(content, numbers, from_bfloat16);
    case Dtype::float16:
      return unpack<std::uint16_t>(content, numbers, from_half);
    case Dtype::text:
      return;
  }
}

std::string_view view(protozero::data_view data) {
  return {data.data(), data.size()};
}

/// Appends a packed field, or a single value written without packing.
template <typename Message, typename Packed, typename Single, typename Convert>
void append(Message& message, Packed&& packed, Single&& single, std::vector<double>& numbers, Convert&& convert) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const auto value : packed()) {
      if (numbers.size() > kMostElements) return;
      numbers.push_back(convert(value));
    }
  } else if (numbers.size() <= kMostElements) {
    numbers.push_back(convert(single()));
  }
}

std::vector<std::int64_t> decode_shape(std::string_view bytes) {
  std::vector<std::int64_t> sizes;
  protozero::pbf_reader shape(bytes.data(), bytes.size());
  while (shape.next(2, protozero::pbf_wire_type::length_delimited) && sizes.size() < 16) {
    protozero::pbf_reader dimension = shape.get_message();
    std::int64_t size = 0;
    while (dimension.next(1, protozero::pbf_wire_type::varint)) size = dimension.get_int64();
    sizes.push_back(size);
  }
  return sizes;
}

/// The number of elements a shape speaks of, as far as it matters.
std::size_t elements_of(const std::vector<std::int64_t>& shape) {
  std::size_t elements = 1;
  for (const std::int64_t size : shape) {
    elements *= static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, kMostElements + 1));
    elements = std::min(elements, kMostElements + 1);
  }
  return elements;
}

}  // namespace

DecodedTensor decode_tensor(std::string_view bytes) {
  DecodedTensor tensor;
  std::string_view content;
  Dtype dtype{};
  const auto plain = [](auto value) { return static_cast<double>(value); };
  const auto half = [&](std::int32_t bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    return dtype == Dtype::bfloat16 ? from_bfloat16(word) : from_half(word);
  };
  protozero::pbf_message<TensorField> message(bytes.data(), bytes.size());
  while (message.next()) {
    auto& numbers = tensor.numbers;
    switch (message.tag()) {
      case TensorField::dtype:
        dtype = static_cast<Dtype>(message.get_int32());
        break;
      case TensorField::shape:
        tensor.shape = decode_shape(view(message.get_view()));
        break;
      case TensorField::content:
        content = view(message.get_view());
        break;
      case TensorField::float_val:
        append(
            message, [&] { return message.get_packed_float(); }, [&] { return message.get_float(); }, numbers, plain);
        break;
      case TensorField::double_val:
        append(
            message, [&] { return message.get_packed_double(); }, [&] { return message.get_double(); }, numbers, plain);
        break;
      case TensorField::int_val:
        append(
            message, [&] { return message.get_packed_int32(); }, [&] { return message.get_int32(); }, numbers, plain);
        break;
      case TensorField::int64_val:
        append(
            message, [&] { return message.get_packed_int64(); }, [&] { return message.get_int64(); }, numbers, plain);
        break;
      case TensorField::bool_val:
        append(
            message, [&] { return message.get_packed_bool(); }, [&] { return message.get_bool(); }, numbers, plain);
        break;
      case TensorField::half_val:
        append(
            message, [&] { return message.get_packed_int32(); }, [&] { return message.get_int32(); }, numbers, half);
        break;
      case TensorField::uint32_val:
        append(
            message, [&] { return message.get_packed_uint32(); }, [&] { return message.get_uint32(); }, numbers, plain);
        break;
      case TensorField::uint64_val:
        append(
            message, [&] { return message.get_packed_uint64(); }, [&] { return message.get_uint64(); }, numbers, plain);
        break;
      case TensorField::string_val: {
        const std::string_view text = view(message.get_view());
        if (tensor.texts.size() < kMostElements) tensor.texts.push_back(text);
        break;
      }
      default:
        message.skip();
    }
  }
  if (tensor.numbers.empty() && !content.empty()) unpack_content(dtype, content, tensor.numbers);
  const std::size_t elements = elements_of(tensor.shape);
  if (elements > kMostElements || tensor.numbers.size() > kMostElements) tensor.numbers.clear();
  // A tensor of equal elements may be written as one of them.
  if (tensor.numbers.size() == 1 && elements > 1) tensor.numbers.resize(elements, tensor.numbers.front());
  return tensor;
}

namespace {

double load_double(std::string_view packed, std::size_t index) {
  double value = 0;
  std::memcpy(&value, packed.data() + index * sizeof value, sizeof value);
  return value;
}

void load_doubles(std::string_view packed, std::size_t count, std::vector<double>& numbers) {
  numbers.resize(count);
  if (count > 0) std::memcpy(numbers.data(), packed.data(), count * sizeof(double));
}

/// The share of values in the bucket around zero, where it is so narrow that they are as good as zero.
std::optional<double> zero_share(std::string_view limits, std::string_view counts, double min, double max, double num) {
  if (min > 0 || max < 0) return 0.0;
  const std::size_t buckets = std::min(limits.size(), counts.size()) / sizeof(double);
  // The limits rise, so the bucket that holds zero is found by bisection.
  std::size_t low = 0;
  std::size_t high = buckets;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (load_double(limits, middle) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low >= buckets) return std::nullopt;
  const double right = std::min(load_double(limits, low), max);
  const double left = low == 0 ? min : std::max(load_double(limits, low - 1), min);
  const double largest = std::max(std::abs(min), std::abs(max));
  if (!(right - left <= 1e-6 * largest) && largest > 0) return std::nullopt;
  return std::clamp(load_double(counts, low) / num, 0.0, 1.0);
}

}  // namespace

std::optional<HistogramFigures> figures_of_proto(std::string_view bytes, Histogram& whole) {
  whole.min = whole.max = whole.count = whole.sum = whole.sum_squares = 0;
  std::string_view limits;
  std::string_view counts;
  protozero::pbf_message<HistogramField> message(bytes.data(), bytes.size());
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(HistogramField::min, protozero::pbf_wire_type::fixed64):
        whole.min = message.get_double();
        break;
      case tag_and_type(HistogramField::max, protozero::pbf_wire_type::fixed64):
        whole.max = message.get_double();
        break;
      case tag_and_type(HistogramField::num, protozero::pbf_wire_type::fixed64):
        whole.count = message.get_double();
        break;
      case tag_and_type(HistogramField::sum, protozero::pbf_wire_type::fixed64):
        whole.sum = message.get_double();
        break;
      case tag_and_type(HistogramField::sum_squares, protozero::pbf_wire_type::fixed64):
        whole.sum_squares = message.get_double();
        break;
      case tag_and_type(HistogramField::limits, protozero::pbf_wire_type::length_delimited):
        limits = view(message.get_view());
        break;
      case tag_and_type(HistogramField::counts, protozero::pbf_wire_type::length_delimited):
        counts = view(message.get_view());
        break;
      default:
        message.skip();
    }
  }
  if (!(whole.count > 0)) return std::nullopt;
  HistogramFigures figures;
  figures.min = whole.min;
  figures.max = whole.max;
  figures.mean = whole.sum / whole.count;
  // The file has sums only; rounding may leave a variance just below zero.
  figures.std = std::sqrt(std::max(0.0, whole.sum_squares / whole.count - figures.mean * figures.mean));
  figures.norm = std::sqrt(whole.sum_squares);
  figures.zero_share = zero_share(limits, counts, whole.min, whole.max, whole.count);
  const std::size_t bins = std::min(limits.size(), counts.size()) / sizeof(double);
  load_doubles(limits, bins, whole.limits);
  load_doubles(counts, bins, whole.counts);
  return figures;
}

void distribution_of_rows(const std::vector<double>& rows, const HistogramFigures& figures, Histogram& whole) {
  whole.min = figures.min;
  whole.max = figures.max;
  whole.count = 0;
  whole.limits.clear();
  whole.counts.clear();
  for (std::size_t i = 0; i + 2 < rows.size(); i += 3) {
    whole.limits.push_back(rows[i + 1]);
    whole.counts.push_back(rows[i + 2]);
    if (rows[i + 2] > 0) whole.count += rows[i + 2];
  }
  whole.sum = figures.mean * whole.count;
  whole.sum_squares = figures.norm * figures.norm;
}

std::optional<HistogramFigures> figures_of_rows(const std::vector<double>& rows) {
  double num = 0;
  double sum = 0;
  double squares = 0;
  HistogramFigures figures;
  for (std::size_t i = 0; i + 2 < rows.size(); i += 3) {
    const double left = rows[i];
    const double right = rows[i + 1];
    const double count = rows[i + 2];
    if (!(count > 0)) continue;
    if (num == 0) figures.min = left;
    figures.max = right;
    const double middle = left + (right - left) / 2;
    const double width = right - left;
    num += count;
    sum += count * middle;
    squares += count * (middle * middle + width * width / 12);  // the variance of an even spread is width^2 / 12
    if (left == 0 && right == 0) figures.zero_share = figures.zero_share.value_or(0) + count;
  }
  if (num == 0) return std::nullopt;
  figures.mean = sum / num;
  figures.std = std::sqrt(std::max(0.0, squares / num - figures.mean * figures.mean));
  figures.norm = std::sqrt(squares);
  if (figures.zero_share) *figures.zero_share /= num;
  if (figures.min > 0 || figures.max < 0) figures.zero_share = 0.0;
  return figures;
}

}  // namespace osler
