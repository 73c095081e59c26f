// Layers: the per-layer series of a run, in the order of the network.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/patient.h"

namespace osler {

/// The series of one layer's tensor (its gradient, weights, updates or activations) by statistic.
struct Layer {
  std::string name;
  std::map<std::string, const Series*, std::less<>> series;  ///< "norm", "std", "mean", "max", "zero-share", ...

  /// The series of the first of `statistics` that is there, or nullptr.
  [[nodiscard]] const Series* find(std::initializer_list<std::string_view> statistics) const;
};

/// The layers with series in a layer role, from input to output as far as the log tells: in the order in which they
/// appear. Where they appear sorted as text, numbers within the names count as numbers ("block.2" before "block.10").
[[nodiscard]] std::vector<Layer> layers_in(const Patient& patient, Role role);

/// The lower-case words of a layer's name; digits separate as dots do.
[[nodiscard]] std::vector<std::string> words_of_layer(std::string_view layer);
/// A bias, or the scale or shift of a normalisation: few numbers, which start at 0 or 1 and are of another size than
/// weights.
[[nodiscard]] bool is_vector(std::string_view layer);
/// A table of which each batch touches only some rows: by its name, and as a monitor in the process has told.
[[nodiscard]] bool is_embedding(std::string_view layer);
[[nodiscard]] bool is_embedding(const Patient& patient, std::string_view layer);

/// The weight beside a bias: "fc1.weight" of "fc1.bias". Empty for what is no bias.
[[nodiscard]] std::string weight_beside(std::string_view layer);

/// The finite values of a layer's series as a curve of at most a hundred or so points: there may be thousands of
/// layers.
[[nodiscard]] signal::Curve layer_curve(const Series& series);

/// What a layer's value is now: the median of the last tenth of its curve, of three points at least. NaN for no points.
[[nodiscard]] double level_now(const signal::Curve& curve);

/// "fc1, fc2 and 12 more".
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

}  // namespace osler
