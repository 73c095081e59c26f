// The monitors of a thread.
#include "torch/company.h"

#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace osler::torch {
namespace {

thread_local std::unordered_map<const void*, std::weak_ptr<monitor::Company>> watched_by;
thread_local std::optional<std::uint64_t> newest_loss;  // by the number of its node

}  // namespace

std::shared_ptr<monitor::Company> join_company(const std::vector<at::Tensor>& parameters) {
  std::erase_if(watched_by, [](const auto& each) { return each.second.expired(); });
  auto joined = std::make_shared<monitor::Company>();
  for (const at::Tensor& parameter : parameters) watched_by[parameter.unsafeGetTensorImpl()] = joined;
  return joined;
}

void tell_used(const std::vector<const void*>& parameters, const monitor::Company& but) {
  std::unordered_set<const monitor::Company*> told = {&but};
  for (const void* const parameter : parameters) {
    const auto at = watched_by.find(parameter);
    if (at == watched_by.end()) continue;
    const auto other = at->second.lock();
    if (other && told.insert(other.get()).second) other->used();
  }
}

bool begins_anew(const at::Tensor& loss) {
  const auto root = loss.grad_fn();
  if (root == nullptr) return true;
  return std::exchange(newest_loss, root->sequence_nr()) != root->sequence_nr();
}

}  // namespace osler::torch
