// Batch and Engine: ask for many statistics at once, collect the answers later.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "osler/base/result.h"
#include "osler/stats/log_histogram.h"
#include "osler/stats/pair_stats.h"
#include "osler/stats/row_similarity.h"
#include "osler/stats/tensor_stats.h"
#include "osler/stats/tensor_view.h"
#include "osler/stats/unit_activity.h"

namespace osler::stats {

/// Questions about tensors and, once an engine has run it, their answers. Every kind of question is numbered from 0 in
/// the order of asking. Use one batch again and again: submitting it anew asks the same of the tensors' new contents,
/// and after the first steps even `clear` and asking anew allocate nothing. One thread at a time; not to be touched
/// between Engine::submit and the end of Engine::wait.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  /// Asks for the statistics of a tensor.
  std::size_t summarize(const TensorView& tensor, const SummaryOptions& options = {});
  /// Asks for the brief statistics of a tensor (SummaryOptions::brief) and how far it has moved from what it was at the
  /// last such question with the same `memory`; zeroed memory stands for a tensor of zeros. The tensor lies densely in
  /// memory. The number is one of `summary` and of `moved`.
  Result<std::size_t> follow(const TensorView& tensor, void* memory);
  /// The bytes of memory, aligned as the elements are, that following a tensor takes: those of a copy in the order of
  /// its memory, but for f32 tensors of more than 16,384 elements a sixteenth, which holds sketches of them. On a GPU,
  /// where GpuEngine::allocate gives such memory, it is a 128th of all tensors of more than 16,384 elements.
  [[nodiscard]] static std::size_t memory_to_follow(DType dtype, std::uint64_t count, Device device = {});
  /// Asks for the pair statistics of two tensors of the same sizes on the same device.
  Result<std::size_t> compare(const TensorView& a, const TensorView& b);
  /// Asks how often each unit, an index along `axis`, has a magnitude above `threshold`. At most 2^26 units of fewer
  /// than 2^32 elements each.
  Result<std::size_t> count_units(const TensorView& tensor, std::size_t axis, double threshold = 0);
  /// Asks how alike the rows along the first dimension are, of at most 2^26 features. Each such question is worked on
  /// by a single thread.
  Result<std::size_t> compare_rows(const TensorView& tensor);

  /// Forgets questions and answers, keeps the memory.
  void clear();

  /// The answer to a `summarize`; valid until `clear`.
  [[nodiscard]] const TensorStats& summary(std::size_t number) const;
  /// The squared L2 norm of what changed, of a `follow`: within 1e-6 relative where a copy is kept, otherwise an
  /// estimate. For changes that know nothing of the signs in the sketches its standard deviation is at most a tenth of
  /// it and, where n elements have changed alike, sqrt(32 / n) of it (4.4 % of the square, 2.2 % of the norm, at
  /// 16,384; on a GPU the square's is sqrt(256 / n) for f32, sqrt(512 / n) for 16 bits). Exactly 0 where nothing
  /// changed; what is below 1e-7 of the tensor itself drowns in rounding. Elements that are or were not finite are left
  /// out.
  [[nodiscard]] double moved(std::size_t number) const;
  /// The histogram of a `summarize` that asked for one; all zero otherwise.
  [[nodiscard]] const LogHistogram& histogram(std::size_t number) const;
  /// The answer to a `compare`.
  [[nodiscard]] const PairStats& pair(std::size_t number) const;
  /// The answer to a `count_units`.
  [[nodiscard]] const UnitActivity& units(std::size_t number) const;
  /// The answer to a `compare_rows`.
  [[nodiscard]] const RowSimilarity& rows(std::size_t number) const;

  /// What the engines see of a batch; private to the module.
  struct Work;
  [[nodiscard]] Work& work() const { return *work_; }

 private:
  std::unique_ptr<Work> work_;
};

/// Runs batches somewhere: on host threads, or on the device that holds the tensors (gpu_engine.h). Safe to use from
/// several threads. Destroying an engine first finishes what was submitted.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Starts a batch and returns at once. The batch and the memory of its tensors must stay as they are until `wait`
  /// returns. Fails, with nothing started, when a tensor lies on a device this engine does not serve.
  virtual Result<void> submit(Batch& batch) = 0;
  /// Whether a submitted batch is finished.
  [[nodiscard]] virtual bool done(const Batch& batch) const = 0;
  /// Returns when a submitted batch is finished; the calling thread helps where it can. Returns at once for a batch
  /// that was not submitted.
  virtual void wait(Batch& batch) = 0;
};

/// An engine for host memory with so many threads of its own; with 0 all work is done by the thread inside `wait`.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(unsigned threads);

/// What one member of a crew does, given its number among how many.
using CrewWork = std::function<void(std::size_t member, std::size_t members)>;
/// Runs `work` on several threads at once, the calling one among them, and returns when all have come back from it.
using Crew = std::function<void(const CrewWork& work)>;

/// An engine for host memory whose work is done inside `wait` by threads that someone else has anyway: a training's.
/// Batches too small to be shared out are left to the calling thread.
[[nodiscard]] std::unique_ptr<Engine> make_crew_engine(Crew crew);

}  // namespace osler::stats
