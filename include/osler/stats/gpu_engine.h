// GpuEngine: the statistics of tensors that lie on an NVIDIA GPU, measured there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/stats/engine.h"

namespace osler::stats {

/// Which device measures, and where what it needs is found. Nothing is read from the environment.
struct GpuOptions {
  int device = 0;              ///< as Device::index, in the order of the driver
  std::string cache_folder{};  ///< compiled kernels are kept here for the next program; empty: nowhere
  /// Names or paths of the run-time compiler NVRTC, tried before those that the system's loader knows.
  std::vector<std::string> compilers{};
  std::string driver = "libcuda.so.1";  ///< the driver's library
};

/// What an engine holds.
struct GpuMemory {
  std::uint64_t device = 0;  ///< bytes on the GPU
  std::uint64_t pinned = 0;  ///< bytes of page-locked host memory
};

/// Runs batches of tensors on one GPU: summaries with histograms, follows, pairs and units, each with the meaning it
/// has on the host; rows are not compared there. `submit` only queues work on the stream that it is given, in the order
/// of the training's own work there, and never waits for the device. After the first times a batch of the same shapes
/// allocates nothing. Answers may be asked for (`poll`) a step or two later. Safe to use from several threads.
///
/// Counts, extrema, indices and histograms are exact. Sums are within the bounds of the host's engine of exact
/// arithmetic, but for the m2 of f32, f16 and bf16, which is within 1e-4 relative. Both engines put the parts of a
/// tensor together by their means, so that m2 is off by up to 1e-15 |mean| n r where the mean dwarfs the deviation r. A
/// batch measured twice gives the same bits.
class GpuEngine : public Engine {
 public:
  using Engine::submit;
  /// Queues a batch on a CUstream or cudaStream_t (null: the default stream). Fails, with nothing queued, when a tensor
  /// lies elsewhere, the batch is still under way, memory is short, the device is lost, or a graph is being captured
  /// on the stream.
  virtual Result<void> submit(Batch& batch, void* stream) = 0;
  /// Whether the answers of a submitted batch are there; without waiting. An error when the device failed: then the
  /// batch has no answers, and its counts are 0.
  virtual Result<bool> poll(Batch& batch) = 0;
  /// What the device took for a batch whose answers are there, in seconds; 0 where it did not say.
  [[nodiscard]] virtual double seconds(const Batch& batch) const = 0;
  /// Zeroed memory on the device, for Batch::follow; given back when the last copy of the pointer goes.
  virtual Result<std::shared_ptr<void>> allocate(std::size_t bytes) = 0;
  /// What is held for batches and by `allocate`.
  [[nodiscard]] virtual GpuMemory memory() const = 0;
  /// Whether the kernels had to be compiled, because no earlier program had left them in the cache.
  [[nodiscard]] virtual bool compiled() const = 0;
};

/// Loads the driver and, if the cache does not hold the kernels yet, the run-time compiler. Fails with a sentence when
/// either is missing or the device cannot be used.
[[nodiscard]] Result<std::unique_ptr<GpuEngine>> make_gpu_engine(const GpuOptions& options);

}  // namespace osler::stats
