// ActivationTrace: the health of every layer's output in one forward pass, with no change to the model.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osler/stats/engine.h"
#include "torch/operations.h"
#include "torch/tensor_names.h"
#include "torch/watch.h"

namespace osler::torch {

/// What was measured of one layer's output. The last measurement of a pass wins where a layer runs several times.
struct Activation {
  std::string layer;      ///< "conv2 -> bn2 -> relu"
  std::string operation;  ///< the plain name of what computed it
  stats::TensorStats stats;
  std::optional<stats::LogHistogram> counts;  ///< where histograms were wanted
  std::optional<double> saturated;            ///< share beyond 0.99 of the range, for sigmoid, tanh and their kin
  std::optional<stats::UnitActivity> units;   ///< for rectifiers
  std::optional<stats::RowSimilarity> rows;   ///< with at least two samples
  std::optional<double> entropy;              ///< of softmax rows, as a share of the largest possible
  std::optional<double> drift;                ///< running statistics against the batch's, in standard deviations
};

/// Which forward passes are measured: those of a training build a graph, those of a validation in between do not.
enum class Passes { every, training };

/// Measures the outputs of layers while a watch shows it the operations of a forward pass. Backward operations are
/// passed over.
class ActivationTrace final : public OperationObserver {
 public:
  explicit ActivationTrace(const ::torch::nn::Module& model, Passes passes = Passes::every);

  void started(const Operation& operation) override;
  void finished(const Operation& operation) override;
  /// Measures a tensor of a pass under a name of the user's, and calls what follows from it by that name.
  void tap(const std::string& name, const at::Tensor& tensor, bool builds_graph);

  /// Whether what is measured from now on is counted in histograms too.
  void with_histograms(bool wanted) { histograms_ = wanted; }
  /// Forgets what was measured, keeps the names of the layers.
  void clear();
  /// In the order of the forward pass.
  [[nodiscard]] const std::vector<Activation>& activations() const { return activations_; }
  /// What went into the last softmax over classes: the largest magnitude, and the name; nothing when there was none.
  [[nodiscard]] const std::optional<Activation>& logits() const { return logits_; }
  /// How long the measuring took since `clear`.
  [[nodiscard]] double seconds() const { return seconds_; }
  /// How many operations were shown to it since `clear`.
  [[nodiscard]] std::size_t operations() const { return operations_; }

 private:
  struct Frame {
    std::string plain;
    Part part = Part::other;
    bool quiet = false;  ///< inside an operation that counts as a whole, or in a pass that is not measured
    std::string result;
    std::optional<double> drift;
  };
  void begin(const Operation& operation);
  void end(const Operation& operation);
  void measure(const Frame& frame, const at::Tensor& output);
  void ask(Activation& activation, const at::Tensor& tensor, Part part);
  void note_logits(const Frame& frame, const std::vector<at::Tensor>& inputs);
  Activation& entry(const std::string& layer);

  [[nodiscard]] bool measures(bool builds_graph) const { return builds_graph || passes_ == Passes::every; }

  Passes passes_;
  TensorNames names_;
  std::vector<Frame> frames_;
  std::size_t backward_depth_ = 0;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<Activation> activations_;
  std::map<std::string, std::size_t, std::less<>> known_;
  std::optional<Activation> logits_;
  double seconds_ = 0;
  std::size_t operations_ = 0;
  bool histograms_ = false;
};

}  // namespace osler::torch
