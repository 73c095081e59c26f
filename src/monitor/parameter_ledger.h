// ParameterLedger: gradients, weights and updates of every named parameter of any framework, measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/tensor_source.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"

namespace osler::monitor {

/// A parameter as the model declares it.
struct ParameterInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  bool trainable = true;  ///< it is meant to have a gradient
  bool optimized = true;  ///< an optimizer holds it
  bool table = false;     ///< of an embedding: a batch touches only some rows, and no layer's rule gives their size

  [[nodiscard]] std::uint64_t count() const;
};

/// Whether the size of a parameter at the start follows from its inputs, as the weights of layers do. Those of
/// recurrent layers follow the size of the state; a table of positions or a token of its own follows no rule.
[[nodiscard]] bool starts_by_rule(std::string_view name, std::span<const std::int64_t> shape);

/// What the gradients of a step are like as a whole.
struct GradientLook {
  bool complete = false;  ///< every gradient was looked at, not only the small ones
  bool finite = true;
  double norm = 0;        ///< when complete
  std::string first_bad;  ///< the parameter nearest to the output whose gradient is not finite
};

/// The parameters of one model. The same questions as LibTorch's ParameterBook asks, of views.
class ParameterLedger {
 public:
  /// Elements of a tensor whose gradient is looked at on every step.
  static constexpr std::int64_t kSmall = 1024;
  /// Elements that are looked at on every step besides, in layers without a small tensor: a NaN of the backward pass
  /// shows in the small tensors of all others.
  static constexpr std::int64_t kUnguarded = 16'384;

  ParameterLedger(std::vector<ParameterInfo> parameters, unsigned threads);

  [[nodiscard]] const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  [[nodiscard]] std::vector<LayerInfo> layers() const;
  /// Whether an update was seen that changed it.
  [[nodiscard]] bool has_moved(std::size_t number) const { return entries_[number].has_moved; }
  /// A parameter was frozen or thawed, or an optimizer took it over.
  void tell(std::size_t number, bool trainable, bool optimized);

  /// Looks whether the small gradients are finite, and larger ones of layers that have no small one: embeddings, layers
  /// without bias.
  GradientLook look_at_small(TensorSource& source);
  /// Looks at all gradients. With `paired` they are held against those that were remembered, or, where there are none,
  /// remembered for the next such look.
  GradientLook look(TensorSource& source, bool paired = false);
  /// Looks at all gradients so, measures the weights, and remembers them to be compared after the next step.
  GradientLook measure(TensorSource& source, bool paired = false);

  /// Records how the weights start: their size over He's rule, and how much the rows of a matrix differ.
  void record_start(Recorder& recorder, TensorSource& source);
  /// Records what `measure` has measured of gradients and weights.
  void record(Recorder& recorder, std::int64_t step, TensorSource& source);
  /// Records histograms, mean magnitudes and smallest values of the weights and gradients of matrices and kernels.
  /// Vectors (biases, scales) have few values, and of these the mean and deviation tell enough.
  void record_histograms(Recorder& recorder, std::int64_t step, TensorSource& source);
  /// Whether weights were remembered that have not been compared yet.
  [[nodiscard]] bool remembers() const { return remembers_; }
  /// The remembered weights are not to be compared.
  void forget() { remembers_ = compared_ = false; }
  /// Records what the optimizer changed since the weights were remembered, at the step of the remembered weights. A
  /// `measure` of the next step has compared them already; otherwise they are compared here and forgotten.
  void record_updates(Recorder& recorder, std::int64_t step, TensorSource& source);

  /// Whether gradients wait for those of the next step.
  [[nodiscard]] bool remembers_gradients() const { return remembers_gradients_; }
  /// How the gradients of two consecutive steps relate, once after the second paired look.
  std::optional<stats::PairStats> take_pair() { return std::exchange(pair_, std::nullopt); }

 private:
  /// What following one tensor takes; zeroed when the tensor's layout changes.
  struct Memory {
    std::vector<std::uint64_t> words;
    stats::DType dtype = stats::DType::f32;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;

    /// Whether it was made for a tensor like this already; makes it so otherwise.
    bool fit(const stats::TensorView& tensor);
  };
  struct Entry {
    std::optional<std::size_t> gradient_number;  // in the batch
    std::optional<std::size_t> weight_number;
    std::optional<stats::TensorStats> gradient;
    std::optional<stats::TensorStats> weight;
    std::optional<double> moved;     // the norm of the newest update
    std::optional<double> relative;  // over the norm of the weights before it
    std::optional<double> lost;      // half precision: the share of weights with a gradient that did not change
    Memory before;                   // the remembered weights
    Memory gradient_before;          // the remembered gradient
    double squared_before = 0;       // its squared norm
    bool has_moved = false;          // in any update that was compared
    bool paired = false;             // this gradient is held against the remembered one
    std::vector<bool> pushed;        // half precision: where the gradient was not zero
  };

  void ask_gradients(TensorSource& source, bool paired);
  void ask_weights(TensorSource& source);
  bool run(TensorSource& source);
  GradientLook read_gradients(bool paired);
  void read_weights();
  void note_pushed(TensorSource& source);

  std::vector<ParameterInfo> parameters_;
  std::vector<std::size_t> always_;  // parameters whose gradients are looked at on every step
  std::vector<Entry> entries_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  bool remembers_ = false;
  bool compared_ = false;
  bool remembers_gradients_ = false;
  std::optional<stats::PairStats> pair_;
};

}  // namespace osler::monitor
