// ParameterBook: gradients, weights and updates of every named parameter, measured.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/parameter_ledger.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"
#include "torch/host_tensor.h"

namespace osler::torch {

using monitor::GradientLook;

/// The parameters of one model.
class ParameterBook {
 public:
  explicit ParameterBook(const ::torch::nn::Module& model);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] std::vector<LayerInfo> layers() const;
  /// Every parameter was in host memory at first.
  [[nodiscard]] bool on_host() const { return on_host_; }
  /// Every parameter is on the device it was on at first.
  [[nodiscard]] bool in_place() const;

  /// Looks whether the small gradients are finite. A NaN of the backward pass reaches the small tensor of a layer (its
  /// bias) with the large one; of the large tensors without one (an embedding) up to `most` elements are looked at too,
  /// the smallest tensors first.
  GradientLook look_at_small(std::int64_t most = kAlways);
  /// Looks at all gradients. With `paired` they are held against those that were remembered, or, where there are none,
  /// remembered for the next such look: in the same pass over their memory.
  GradientLook look(bool paired = false);
  /// Looks at all gradients so, measures the weights, and remembers them to be compared after the next step: all in one
  /// pass over the memory of each.
  GradientLook measure(bool paired = false);

  /// Records how the weights start: their size over He's rule, and how much the rows of a matrix differ.
  void record_start(Recorder& recorder);
  /// Records what `measure` has measured of gradients and weights.
  void record(Recorder& recorder, std::int64_t step);
  /// Records histograms, mean magnitudes and smallest values of the weights and gradients of matrices and kernels; of
  /// vectors mean and deviation tell enough.
  void record_histograms(Recorder& recorder, std::int64_t step);
  /// Whether weights were remembered that have not been compared yet.
  [[nodiscard]] bool remembers() const { return remembers_; }
  /// The remembered weights are not to be compared.
  void forget() { remembers_ = false; }
  /// Records what the optimizer changed since the weights were remembered, at the step of the remembered weights. A
  /// `measure` of the next step has compared them already; otherwise they are compared here and forgotten.
  void record_updates(Recorder& recorder, std::int64_t step);

  /// Whether gradients wait for those of the next step.
  [[nodiscard]] bool remembers_gradients() const { return remembers_gradients_; }
  /// How the gradients of two consecutive steps relate, once after the second paired look.
  std::optional<stats::PairStats> take_pair() { return std::exchange(pair_, std::nullopt); }

  /// A number that differs when any weight differs.
  [[nodiscard]] double weight_sum();

  /// Elements of tensors without a small one beside them that are looked at on every step, however short it is.
  static constexpr std::int64_t kAlways = monitor::ParameterLedger::kUnguarded;

 private:
  static constexpr std::int64_t kSmall = monitor::ParameterLedger::kSmall;

  struct Entry {
    std::optional<std::size_t> gradient_number;  // in the batch
    std::optional<std::size_t> weight_number;
    std::optional<stats::TensorStats> gradient;
    std::optional<stats::TensorStats> weight;
    std::optional<double> moved;     // the norm of the newest update
    std::optional<double> relative;  // over the norm of the weights before it
    std::optional<double> lost;      // half precision: the share of weights with a gradient that did not change
    at::Tensor before;               // the remembered weights, in host memory
    at::Tensor gradient_before;      // the remembered gradient
    double squared_before = 0;       // its squared norm
    bool paired = false;             // this gradient is held against the remembered one
    at::Tensor pushed;               // half precision: where the gradient was not zero
    std::optional<SeriesId> norm_series;
    std::optional<SeriesId> ratio_series;
  };

  void sort_by_size();
  void ask_gradients(bool paired);
  void ask_weights();
  bool run();
  GradientLook read_gradients(bool paired);
  void read_weights();

  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Device> devices_;
  bool on_host_ = true;
  std::vector<std::size_t> small_;      // the parameters of few elements
  std::vector<std::size_t> unguarded_;  // large ones without a small one in their layer, the smallest first
  std::vector<Entry> entries_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<at::Tensor> alive_;  // what the batch looks at
  bool remembers_ = false;
  bool compared_ = false;  // the newest `measure` found remembered weights and has compared them
  bool remembers_gradients_ = false;
  std::optional<stats::PairStats> pair_;
};

}  // namespace osler::torch
