// Telling LibTorch's tensors apart for the book of names.
#include "torch/tensor_names.h"

#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

std::uint64_t number_of(const void* address) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
}

monitor::TensorKey key_of(const at::Tensor& tensor) {
  return {number_of(tensor.unsafeGetTensorImpl()), number_of(storage_of(tensor))};
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
  for (const auto& item : model.named_parameters()) book_.declare(item.key(), number_of(storage_of(item.value())));
  for (const auto& item : model.named_buffers()) book_.declare(item.key(), number_of(storage_of(item.value())));
}

std::string_view TensorNames::parameter(const at::Tensor& tensor) const {
  return book_.parameter(number_of(storage_of(tensor)));
}

std::string_view TensorNames::layer(const at::Tensor& tensor) const {
  return book_.layer(number_of(storage_of(tensor)));
}

std::string TensorNames::of(const at::Tensor& tensor) const {
  return book_.of(key_of(tensor));
}

std::string TensorNames::result(std::string_view plain, const std::vector<at::Tensor>& inputs) const {
  std::vector<monitor::TensorKey> keys;
  keys.reserve(inputs.size());
  for (const at::Tensor& input : inputs) keys.push_back(key_of(input));
  return book_.result(plain, keys);
}

void TensorNames::name(const at::Tensor& tensor, const std::string& name) {
  book_.name(number_of(tensor.unsafeGetTensorImpl()), name);
}

}  // namespace osler::torch
