// Walking from a loss back through what it was computed of.
#include "torch/loss_graph.h"

#include <torch/csrc/autograd/function.h>

#include <unordered_map>

#include "torch/operations.h"

namespace osler::torch {

std::vector<monitor::LossNode> graph_of(const at::Tensor& loss) {
  using Node = ::torch::autograd::Node;
  std::vector<monitor::LossNode> shown;
  std::vector<const Node*> nodes;
  std::unordered_map<const Node*, std::size_t> numbers;
  const std::shared_ptr<Node> root = loss.grad_fn();
  if (root == nullptr) return shown;
  numbers.emplace(root.get(), 0);
  nodes.push_back(root.get());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    monitor::LossNode node;
    node.plain = plain_node_name(nodes[i]->name());
    for (const auto& edge : nodes[i]->next_edges()) {
      const Node* const next = edge.function.get();
      if (next == nullptr || (!numbers.contains(next) && nodes.size() >= monitor::kLossNodes)) continue;
      const auto [at, fresh] = numbers.emplace(next, nodes.size());
      if (fresh) nodes.push_back(next);
      node.inputs.push_back(at->second);
    }
    shown.push_back(std::move(node));
  }
  return shown;
}

}  // namespace osler::torch
