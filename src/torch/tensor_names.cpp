// Following names from weights through operations.
#include "torch/tensor_names.h"

#include "torch/host_tensor.h"
#include "torch/operations.h"

namespace osler::torch {
namespace {

constexpr std::string_view kArrow = " -> ";
constexpr std::size_t kLongestName = 120;

std::string joined(std::string name, std::string_view part) {
  if (name.empty()) return std::string(part);
  // x + x + x: one "add" says it.
  if (name.ends_with(part) && name.size() > part.size() && name[name.size() - part.size() - 1] == ' ') return name;
  if (name.size() + part.size() > kLongestName) {
    const auto last = name.rfind(kArrow);
    name = "... -> " + name.substr(last == std::string::npos ? 0 : last + kArrow.size());
  }
  return name + std::string(kArrow) + std::string(part);
}

}  // namespace

std::vector<at::Tensor> tensors_in(std::span<const c10::IValue> values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        if (tensor.defined()) tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

TensorNames::TensorNames(const ::torch::nn::Module& model) {
  const auto add = [this](const std::string& name, const at::Tensor& tensor) {
    const auto dot = name.rfind('.');
    by_storage_.try_emplace(storage_of(tensor), Owned{name, dot == std::string::npos ? name : name.substr(0, dot)});
  };
  for (const auto& item : model.named_parameters()) add(item.key(), item.value());
  for (const auto& item : model.named_buffers()) add(item.key(), item.value());
  by_storage_.erase(nullptr);
}

std::string_view TensorNames::parameter(const at::Tensor& tensor) const {
  const auto found = by_storage_.find(storage_of(tensor));
  return found == by_storage_.end() ? std::string_view{} : std::string_view(found->second.parameter);
}

std::string_view TensorNames::layer(const at::Tensor& tensor) const {
  const auto found = by_storage_.find(storage_of(tensor));
  return found == by_storage_.end() ? std::string_view{} : std::string_view(found->second.layer);
}

std::string TensorNames::of(const at::Tensor& tensor) const {
  const auto found = given_.find(tensor.unsafeGetTensorImpl());
  return found == given_.end() ? std::string(layer(tensor)) : found->second.name;
}

std::string TensorNames::result(std::string_view plain, const std::vector<at::Tensor>& inputs) const {
  std::string weight;
  std::string before;
  std::uint64_t newest = 0;
  for (const at::Tensor& input : inputs) {
    if (weight.empty()) weight = layer(input);
    const auto given = given_.find(input.unsafeGetTensorImpl());
    if (given == given_.end() || given->second.order < newest || !layer(input).empty()) continue;
    newest = given->second.order;
    before = given->second.name;
  }
  switch (part_of(plain)) {
    case Part::weighted:
    case Part::recurrent:
    case Part::embedding:
      return weight.empty() ? before : weight;
    case Part::normalisation:
      return joined(before, weight.empty() ? plain : std::string_view(weight));
    case Part::activation:
    case Part::softmax:
      return before.empty() ? weight : joined(before, plain);
    case Part::joining:
      return before.empty() ? weight : before;
    case Part::other:
      break;
  }
  return before.empty() ? weight : before;
}

void TensorNames::name(const at::Tensor& tensor, const std::string& name) {
  if (name.empty()) {
    given_.erase(tensor.unsafeGetTensorImpl());
  } else {
    given_.insert_or_assign(tensor.unsafeGetTensorImpl(), Given{name, ++order_});
  }
}

}  // namespace osler::torch
