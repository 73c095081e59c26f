// Walking from a loss back through what it was computed of.
#include "torch/loss_graph.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "torch/operations.h"

namespace osler::torch {
namespace {

constexpr std::size_t kTelling = 3;  // operations next to the loss that make its kind
constexpr std::size_t kOutputs = 2;  // and parameters: those of the layer that gave the outputs

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ word) * kPrime;
  return hash ^ (hash >> 29U);
}

}  // namespace

LossMakeUp make_up_of(const at::Tensor& loss) {
  using Node = ::torch::autograd::Node;
  LossMakeUp made;
  const std::shared_ptr<Node> root = loss.grad_fn();
  if (root == nullptr) return made;
  std::vector<const Node*> nodes = {root.get()};
  std::unordered_set<const Node*> known = {root.get()};
  std::size_t operations = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto* leaf = dynamic_cast<const ::torch::autograd::AccumulateGrad*>(nodes[i])) {
      const void* const parameter = leaf->variable.unsafeGetTensorImpl();
      if (made.parameters.size() < kOutputs) made.kind = mixed(made.kind, reinterpret_cast<std::uintptr_t>(parameter));
      made.parameters.push_back(parameter);
    } else if (operations < kTelling && made.parameters.size() < kOutputs) {
      ++operations;
      made.kind = mixed(made.kind, std::hash<std::string>{}(nodes[i]->name()));
    }
    for (const auto& edge : nodes[i]->next_edges()) {
      const Node* const next = edge.function.get();
      if (next != nullptr && nodes.size() < monitor::kLossNodes && known.insert(next).second) nodes.push_back(next);
    }
  }
  return made;
}

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
