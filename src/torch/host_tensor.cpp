// Showing LibTorch tensors to the statistics engine.
#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

std::optional<stats::DType> dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return stats::DType::f32;
    case at::kDouble:
      return stats::DType::f64;
    case at::kHalf:
      return stats::DType::f16;
    case at::kBFloat16:
      return stats::DType::bf16;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<HostTensor> host_tensor(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided) return std::nullopt;
  const auto dtype = dtype_of(tensor);
  if (!dtype || tensor.dim() > static_cast<std::int64_t>(stats::TensorView::kMaxRank)) return std::nullopt;
  HostTensor host;
  host.copied = !tensor.device().is_cpu();
  host.owner = host.copied ? tensor.detach().to(at::kCPU) : tensor;
  const auto view =
      stats::TensorView::strided(host.owner.data_ptr(), *dtype, {host.owner.sizes().data(), host.owner.sizes().size()},
                                 {host.owner.strides().data(), host.owner.strides().size()});
  if (!view) return std::nullopt;
  host.view = *view;
  return host;
}

const void* storage_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  return tensor.storage().unsafeGetStorageImpl();
}

std::vector<std::int64_t> place_of(std::uint64_t number, at::IntArrayRef sizes) {
  std::vector<std::int64_t> place(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1));
    place[i] = static_cast<std::int64_t>(number % size);
    number /= size;
  }
  return place;
}

std::string in_brackets(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

}  // namespace osler::torch
