// Showing LibTorch tensors to the statistics engine.
#include "torch/host_tensor.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>

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

/// Whether any of the numbers has an exponent of all ones, which NaN and infinity have. No branch, so that the compiler
/// can look at several at a time.
template <typename Bits>
bool any_exponent_full(const void* data, std::int64_t count, Bits exponent) {
  const auto* numbers = static_cast<const std::byte*>(data);
  Bits full = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, numbers + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    full |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return full != 0;
}

/// Whether the numbers lie in host memory one behind the other, as they are.
bool readable(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense() &&
         !tensor.is_conj() && !tensor.is_neg();
}

/// An iterator that has one element for each thread, so that LibTorch gives each thread one.
at::TensorIterator one_for_each(const at::Tensor& places) {
  return at::TensorIteratorConfig()
      .add_output(places)
      .check_all_same_dtype(false)
      .set_check_mem_overlap(false)
      .resize_outputs(false)
      .build();
}

/// LibTorch's threads as a crew. at::parallel_for would run on one thread here, or, compiled for OpenMP, perhaps on
/// those of a second runtime beside LibTorch's own; an iterator does its work inside the library.
class TrainingThreads {
 public:
  void operator()(const stats::CrewWork& work) {
    const int threads = at::get_num_threads();
    if (threads == 1) return work(0, 1);
    const std::lock_guard lock(mutex_);  // they are the same threads for everyone
    if (!places_.defined() || places_.numel() != threads) {
      places_ = at::empty({threads}, at::kByte);
      iterator_ = one_for_each(places_);
    }
    const char* const first = static_cast<const char*>(places_.data_ptr());
    iterator_.for_each(
        [&](char** data, const std::int64_t* /*strides*/, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i) {
            work(static_cast<std::size_t>(data[0] + i - first), static_cast<std::size_t>(threads));
          }
        },
        /*grain_size=*/1);
  }

 private:
  std::mutex mutex_;
  at::Tensor places_;
  at::TensorIterator iterator_;  // kept: to build one takes longer than to measure a small tensor
};

}  // namespace

double single_value(const at::Tensor& tensor) {
  if (readable(tensor) && tensor.scalar_type() == at::kFloat) return *tensor.data_ptr<float>();
  if (readable(tensor) && tensor.scalar_type() == at::kDouble) return *tensor.data_ptr<double>();
  return tensor.detach().item<double>();
}

bool all_finite(const at::Tensor& tensor) {
  const auto dtype = dtype_of(tensor);
  if (!dtype) return true;
  if (!readable(tensor)) return at::isfinite(tensor).all().item<bool>();
  const void* const data = tensor.data_ptr();
  switch (*dtype) {
    case stats::DType::f32:
      return !any_exponent_full<std::uint32_t>(data, tensor.numel(), 0x7F800000U);
    case stats::DType::f64:
      return !any_exponent_full<std::uint64_t>(data, tensor.numel(), 0x7FF0000000000000U);
    case stats::DType::f16:
      return !any_exponent_full<std::uint16_t>(data, tensor.numel(), 0x7C00U);
    case stats::DType::bf16:
      return !any_exponent_full<std::uint16_t>(data, tensor.numel(), 0x7F80U);
  }
  return true;
}

std::unique_ptr<stats::Engine> training_threads_engine() {
  return stats::make_crew_engine(
      [threads = std::make_shared<TrainingThreads>()](const stats::CrewWork& work) { (*threads)(work); });
}

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

std::string in_brackets(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

}  // namespace osler::torch
