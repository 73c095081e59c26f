// What the graph of a loss tells about how it was computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace osler::monitor {

/// A node of the backward pass.
struct LossNode {
  std::string plain;                ///< the forward operation: "log_softmax"
  std::vector<std::size_t> inputs;  ///< the numbers of the nodes whose results it used, in order, as far as shown
};

/// As many nodes from the loss on as need be shown.
constexpr std::size_t kLossNodes = 64;

/// Whether several losses take turns, as those of several tasks do. A kind is any number that tells losses apart.
class LossTurns {
 public:
  void step(std::uint64_t kind);
  /// At least two kinds come again and again, and neighbouring steps often differ.
  [[nodiscard]] bool seen() const;

 private:
  std::map<std::uint64_t, int> counts_;
  std::uint64_t newest_ = 0;
  int steps_ = 0;
  int changes_ = 0;
};

/// Whether an operation that takes raw outputs was given those of a softmax or sigmoid.
[[nodiscard]] bool squashed_twice(std::span<const LossNode> nodes);

}  // namespace osler::monitor
