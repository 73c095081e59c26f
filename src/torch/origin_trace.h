// OriginTrace: follows non-finite values through one forward and backward pass to the operation that made them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "osler/stats/engine.h"
#include "osler/torch/origin.h"
#include "torch/tensor_names.h"
#include "torch/watch.h"

namespace osler::torch {

/// An operation that turned finite values into others, with what explains it.
struct Suspect {
  NonfiniteOrigin origin;
  std::string node;  ///< the backward node it ran in, as "sqrt"; empty in the forward pass
};

/// What is known of an operation when it has run: the material that its cause is judged by.
struct Scene {
  std::string plain;               ///< "log"
  std::string node;                ///< "sqrt" for an operation of SqrtBackward0, else empty
  std::vector<at::Tensor> inputs;  ///< as they were before it ran
  std::vector<double> scalars;
  std::vector<at::Tensor> outputs;
  bool into_foreign_memory = false;  ///< it wrote in place into a parameter or a tensor from outside
  std::string overwritten_by;        ///< an in-place operation that changed one of the inputs behind autograd's back
};
/// Names the cause and fills in detail, tensors and offenders of `origin`.
void judge(const Scene& scene, stats::Engine& engine, NonfiniteOrigin& origin);

/// Watches a pass. Every non-finite value carries the number of the suspect that made it; at the end the number on the
/// loss, or on the gradients, tells which one did the harm. Infinities that were asked for (a mask of -inf) and values
/// that never reach the loss are thereby left alone.
class OriginTrace final : public OperationObserver {
 public:
  explicit OriginTrace(const ::torch::nn::Module& model);

  void started(const Operation& operation) override;
  void finished(const Operation& operation) override;

  /// The origin of what is not finite in the loss, else in the gradients; nothing when both are finite.
  [[nodiscard]] std::optional<NonfiniteOrigin> origin(const at::Tensor& loss) const;
  /// The origin when the backward pass refused because a tensor that it needs was changed in place.
  [[nodiscard]] NonfiniteOrigin overwritten(const std::string& complaint) const;

 private:
  using Mark = std::size_t;                    // index of a suspect
  static constexpr Mark kAskedFor = ~Mark{0};  // infinite on purpose
  static constexpr Mark kNone = ~Mark{0} - 1;

  struct Frame {
    std::string name;
    std::string plain;
    bool node = false;
    bool custom = false;  // the node of a function that the user wrote
    bool engine = false;  // the autograd engine's own bracket around a node
    bool pass_over = false;
    bool top = false;  // called by the user or by a backward node, not by another operation
    std::string layer;
    std::vector<at::Tensor> inputs;  // without those that are only written to
    std::vector<double> scalars;
    Mark carried = kNone;  // of the inputs
    bool nan_carried = false;
    bool foreign = false;
    std::string overwritten_by;
    std::size_t suspects_before = 0;
  };
  struct Counts {
    std::uint64_t nan = 0;
    std::uint64_t inf = 0;
    [[nodiscard]] bool finite() const { return nan == 0 && inf == 0; }
  };

  [[nodiscard]] Counts counts_of(const at::Tensor& tensor);
  [[nodiscard]] bool in_backward() const { return backward_depth_ > 0; }
  [[nodiscard]] const Frame* current_node() const;
  /// The operation that the newest one is part of; null when the user or a backward node called it.
  [[nodiscard]] const Frame* around() const;
  void begin_node(const Operation& operation, Frame& frame);
  void begin_function(const Operation& operation, Frame& frame);
  void name_layer(const Operation& operation, Frame& frame);
  void inspect_input(Frame& frame, const at::Tensor& input);
  Mark explain_unmarked(const Frame& frame, const at::Tensor& input, const Counts& counts);
  [[nodiscard]] bool looks_like_mask(const Frame& frame, const at::Tensor& tensor, const Counts& counts) const;
  void ask_for(const Frame& frame);
  void note_write(const Operation& operation, Frame& frame);
  void follow(const Frame& frame, const at::Tensor& output);
  Mark accuse(const Frame& frame, const at::Tensor& output);
  Mark accuse_outsider(const Frame& frame, const at::Tensor& input);
  [[nodiscard]] const at::Tensor& as_first_seen(const at::Tensor& view) const;
  [[nodiscard]] NonfiniteOrigin asked_for() const;
  void mark(const at::Tensor& tensor, Mark mark);
  [[nodiscard]] Mark mark_of(const at::Tensor& tensor) const;

  TensorNames names_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<Frame> frames_;
  std::size_t backward_depth_ = 0;
  std::unordered_map<std::int64_t, std::string> layer_by_sequence_;
  std::deque<Suspect> suspects_;
  std::unordered_map<const void*, Mark> marks_;             // by storage
  std::vector<at::Tensor> kept_;                            // marked tensors stay alive, so that addresses stay theirs
  std::unordered_set<const void*> made_here_;               // storages that operations of this pass gave out
  std::unordered_set<const void*> has_graph_;               // of them, those that autograd follows
  std::unordered_map<const void*, std::string> rewritten_;  // storages changed in place without autograd's knowledge
  std::string last_write_;    // the newest in-place operation on a tensor that autograd follows
  std::string last_written_;  // and the layer it wrote to
  std::unordered_map<const void*, at::Tensor> first_seen_;  // by storage: what views of this pass look at
  std::unordered_set<const void*> buffers_;                 // storages of the model's buffers
  std::set<Mark> reached_gradients_;
  std::optional<NonfiniteOrigin> asked_;  // the first operation that was asked for an infinity
};

}  // namespace osler::torch
