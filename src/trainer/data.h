// The data of the gallery's tasks: real digits or drawn ones, clouds, text, sums, curves.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <optional>

#include "osler/gallery/recipe.h"

namespace osler::trainer {

/// Samples with their targets along the first dimension.
struct Samples {
  at::Tensor inputs;
  at::Tensor targets;

  [[nodiscard]] std::int64_t count() const { return inputs.size(0); }
  [[nodiscard]] Samples at(const at::Tensor& places) const {
    return {inputs.index_select(0, places), targets.index_select(0, places)};
  }
};

/// What a task gives a training.
struct TaskData {
  Samples training;    ///< with the recipe's faults
  Samples validation;  ///< with the recipe's faults
  Samples truth;       ///< validation data without any fault, in the units that the network is trained with
  std::optional<std::int64_t> classes;
  std::int64_t vocabulary = 0;  ///< of a text
  bool drawn_digits = false;
};

/// The side of a digit's picture, in pixels.
inline constexpr std::int64_t kDigitSide = 14;

/// Makes the data of a recipe's task; draws from the current random numbers.
[[nodiscard]] TaskData make_data(const gallery::Recipe& recipe, const std::filesystem::path& digits);

/// Digits with their labels from the MNIST files of a folder, as 14 x 14 pictures with values from 0 to 255.
[[nodiscard]] std::optional<Samples> read_digits(const std::filesystem::path& folder, bool training,
                                                 std::int64_t count);
/// Digits drawn from seven strokes, moved and noised.
[[nodiscard]] Samples draw_digits(std::int64_t count);

}  // namespace osler::trainer
