// The inside of a Batch: questions, answers, and the pieces into which an engine cuts the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "osler/stats/engine.h"

namespace osler::stats {

namespace gpu {
class Plan;
}

/// A vector whose elements outlive `clear`, so that their own memory is used again.
template <typename T>
class Reused {
 public:
  /// The next element, as it was left when last used.
  T& take() {
    if (used_ == items_.size()) items_.emplace_back();
    return items_[used_++];
  }
  void clear() { used_ = 0; }
  [[nodiscard]] std::size_t size() const { return used_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }

 private:
  std::vector<T> items_;
  std::size_t used_ = 0;
};

/// A question about one tensor and its answer.
struct SummaryJob {
  static constexpr std::size_t kNoHistogram = ~std::size_t{0};

  TensorView tensor;
  SummaryOptions options;
  std::size_t histogram = kNoHistogram;  ///< its number among Work::histograms
  std::size_t first_piece = 0;           ///< among Work::summary_parts
  std::size_t pieces = 0;
  std::byte* before = nullptr;  ///< the memory of a `follow`
  bool sketched = false;        ///< which holds sketches of the blocks
  TensorStats answer;
  double moved = 0;  ///< squared
};

struct PairJob {
  TensorView a, b;
  std::size_t first_piece = 0;  ///< among Work::pair_parts
  std::size_t pieces = 0;
  PairStats answer;
};

struct UnitJob {
  TensorView tensor;
  std::size_t axis = 0;
  double threshold = 0;
  UnitActivity answer;
};

struct RowJob {
  TensorView tensor;
  std::vector<double> directions;  ///< sum over the rows of row / |row|
  std::vector<double> sums;        ///< sum over the rows
  RowSimilarity answer;
};

/// One stretch of one job, done by one thread: ordinals of elements or pairs, units, or all rows.
struct Piece {
  enum class Kind : std::uint8_t { summary, pair, units, rows };
  Kind kind = Kind::summary;
  std::uint32_t job = 0;
  std::size_t part = 0;  ///< where the partial answer goes
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A run of pieces that one thread takes together.
struct Grain {
  std::size_t end = 0;  ///< of its pieces; they begin where those of the grain before end
  double home = 0;      ///< how far along its tensor it begins, in [0, 1)
};

struct Batch::Work {
  Reused<SummaryJob> summaries;
  Reused<PairJob> pairs;
  Reused<UnitJob> units;
  Reused<RowJob> rows;
  std::vector<LogHistogram> histograms;

  std::vector<Piece> pieces;
  std::vector<Grain> grains;
  std::vector<TensorStats> summary_parts;
  std::vector<double> moved_parts;  ///< as many
  std::vector<PairStats> pair_parts;
  std::mutex histogram_lock;        ///< for histograms that several pieces add to
  std::shared_ptr<gpu::Plan> plan;  ///< what a GpuEngine keeps for this batch

  // Shared by the threads of the engine; all but `taken` guarded by its lock.
  enum class State { idle, queued, finishing, done };
  State state = State::idle;
  std::vector<std::uint8_t> taken;  ///< by grain; touched through std::atomic_ref while threads are at work
  std::size_t helpers = 0;          ///< threads inside the batch, a crew counting as one
  Work* next = nullptr;             ///< in the engine's queue
};

/// Cuts the questions into pieces and grains and prepares room for partial answers.
void cut(Batch::Work& work);

/// Does one piece.
void run(Batch::Work& work, const Piece& piece);

/// Puts the partial answers together, in an order that does not depend on who made them.
void finish(Batch::Work& work);

}  // namespace osler::stats
