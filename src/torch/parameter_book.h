// ParameterBook: gradients, weights and updates of every named parameter, measured.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"

namespace osler::torch {

/// What the gradients of a step are like as a whole.
struct GradientLook {
  bool complete = false;  ///< every gradient was looked at, not only the small ones
  bool finite = true;
  double norm = 0;        ///< of those looked at
  std::string first_bad;  ///< the parameter nearest to the output whose gradient is not finite
};

/// How consecutive gradients relate.
struct GradientPair {
  double carried = 0;  ///< how much of the one before is in this one: 1 when gradients are never cleared
  stats::PairStats pair;
};

/// The parameters of one model.
class ParameterBook {
 public:
  explicit ParameterBook(const ::torch::nn::Module& model);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] std::vector<LayerInfo> layers() const;
  /// Every parameter is on the device it was on at first.
  [[nodiscard]] bool in_place() const;

  /// Looks at the gradients: all of them, or the small ones alone.
  GradientLook look(bool all);

  /// Records how the weights start: their size over He's rule, and how much the rows of a matrix differ.
  void record_start(Recorder& recorder);
  /// Records the gradients that the newest complete look measured, and the weights.
  void record(Recorder& recorder, std::int64_t step);
  /// Copies weights and gradients, to be compared after the next step.
  void remember();
  [[nodiscard]] bool remembers() const { return remembers_; }
  /// Records what the optimizer changed since `remember`, at the step of the remembered weights.
  void record_updates(Recorder& recorder, std::int64_t step);
  /// This step's gradients against the remembered ones; forgets both.
  std::optional<GradientPair> compare_gradients();

  /// A number that differs when any weight differs.
  [[nodiscard]] double weight_sum();

 private:
  static constexpr std::int64_t kSmall = 4096;  // elements of a tensor that is looked at on every step

  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Device> devices_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<std::optional<stats::TensorStats>> gradients_;
  std::vector<at::Tensor> weights_before_;
  std::vector<at::Tensor> gradients_before_;
  bool remembers_ = false;
};

}  // namespace osler::torch
