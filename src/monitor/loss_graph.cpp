// Reading the graph of a loss.
#include "monitor/loss_graph.h"

#include <algorithm>

#include "monitor/operations.h"

namespace osler::monitor {
namespace {

constexpr int kFewestOfAKind = 5;   // steps that show that a loss comes again and again (chosen)
constexpr int kStepsPerChange = 4;  // in blocks of more, each loss has a curve of its own between the turns

bool takes_raw(const std::string& plain) {
  return plain == "log_softmax" || plain == "binary_cross_entropy_with_logits";
}

bool squashes(const std::string& plain) {
  return plain == "softmax" || plain == "sigmoid";
}

/// It gives on the values that it was given.
bool passes_on(const std::string& plain) {
  return only_looks(plain) || plain == "clone" || plain == "to_copy" || plain == "reshape";
}

}  // namespace

void LossTurns::step(std::uint64_t kind) {
  if (steps_ > 0 && kind != newest_) ++changes_;
  newest_ = kind;
  ++counts_[kind];
  ++steps_;
}

bool LossTurns::seen() const {
  const auto again =
      std::count_if(counts_.begin(), counts_.end(), [](const auto& each) { return each.second >= kFewestOfAKind; });
  return again >= 2 && changes_ * kStepsPerChange >= steps_;
}

bool squashed_twice(std::span<const LossNode> nodes) {
  for (const LossNode& node : nodes) {
    if (!takes_raw(node.plain)) continue;
    const LossNode* before = &node;
    do {
      if (before->inputs.empty() || before->inputs.front() >= nodes.size()) {
        before = nullptr;
        break;
      }
      before = &nodes[before->inputs.front()];
    } while (passes_on(before->plain));
    if (before != nullptr && squashes(before->plain)) return true;
  }
  return false;
}

}  // namespace osler::monitor
