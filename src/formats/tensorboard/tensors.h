// Numbers out of TensorBoard's protocol buffers: tensors and histograms.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "osler/run/event.h"

namespace osler {

/// A tensor of a summary, decoded to doubles, or its texts.
struct DecodedTensor {
  std::vector<std::int64_t> shape;
  std::vector<double> numbers;
  std::vector<std::string_view> texts;  ///< point into the message
};

/// Decodes a TensorProto. Types that hold no real numbers give an empty tensor; more than `kMostElements` elements give
/// none either, since they are images or embeddings. Throws protozero's exceptions on a malformed message.
[[nodiscard]] DecodedTensor decode_tensor(std::string_view bytes);
inline constexpr std::size_t kMostElements = 4096;

/// What a histogram tells of the tensor it was made from.
struct HistogramFigures {
  double mean = 0;
  double std = 0;
  double min = 0;
  double max = 0;
  double norm = 0;                   ///< Euclidean
  std::optional<double> zero_share;  ///< where a bucket is narrow enough to tell
};

/// Figures of a HistogramProto: exact, since it keeps sum and sum of squares. Nothing when it is empty. The
/// distribution itself goes into `whole`, without its place. Throws protozero's exceptions on a malformed message.
[[nodiscard]] std::optional<HistogramFigures> figures_of_proto(std::string_view bytes, Histogram& whole);
/// Figures of a TF2 histogram, rows of (left, right, count): values are taken as spread evenly over their bucket.
[[nodiscard]] std::optional<HistogramFigures> figures_of_rows(const std::vector<double>& rows);
/// The distribution that such rows with those figures describe, without its place.
void distribution_of_rows(const std::vector<double>& rows, const HistogramFigures& figures, Histogram& whole);

}  // namespace osler
