// Does the pieces of a batch on the host: walks tensors block by block and hands the blocks to the kernels.
#include <algorithm>
#include <cmath>

#include "stats/batch_work.h"
#include "stats/dtype.h"
#include "stats/layout.h"
#include "stats/pair_kernel.h"
#include "stats/sketch.h"
#include "stats/summary_kernel.h"
#include "stats/unit_kernel.h"

namespace osler::stats {

namespace {

Operand operand_of(const TensorView& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), element_bytes(tensor.dtype())};
}

Operand moved(Operand operand, std::int64_t elements) {
  operand.data += elements * static_cast<std::int64_t>(operand.element_bytes);
  return operand;
}

/// The smallest row-major index among the elements of a block for which `wanted` holds, if below `best`.
template <typename Wanted>
std::uint64_t first_index(const Block& block, DType dtype, const Layout& layout, std::uint64_t best, Wanted wanted) {
  const std::size_t bytes = element_bytes(dtype);
  // Elements in memory order: once one is found, no later one of the same growing run can be first.
  const std::uint64_t run = layout.in_order() ? layout.count() : layout.growing_run();
  for (std::uint64_t i = 0; i < block.count; ++i) {
    if (!wanted(load_element(block.data[0] + i * bytes, dtype))) continue;
    const std::uint64_t ordinal = block.ordinal + i;
    best = std::min(best, layout.in_order() ? ordinal : layout.index_of(ordinal));
    i += run - 1 - ordinal % run;
  }
  return best;
}

/// Adds the statistics of a later part whose indices are those of the whole tensor.
void fold(TensorStats& total, const TensorStats& part) {
  if (total.count == 0) {
    total = part;
    return;
  }
  const std::uint64_t first_nan = std::min(total.first_nan, part.first_nan);
  const std::uint64_t first_inf = std::min(total.first_inf, part.first_inf);
  total.append(part);
  total.first_nan = first_nan;
  total.first_inf = first_inf;
}

/// The statistics of a block, and how far it has moved from what the job remembers, which then is the block as it is.
TensorStats summarize_and_follow(const SummaryJob& job, const Block& block, const Thresholds& thresholds,
                                 double& moved) {
  const DType dtype = job.tensor.dtype();
  if (job.sketched) {
    auto* const sketch = reinterpret_cast<float*>(job.before) + block.ordinal / kSketchFold;
    return summarize_and_follow(reinterpret_cast<const float*>(block.data[0]), block.count, thresholds, sketch, moved);
  }
  moved = follow_block(job.before + block.ordinal * element_bytes(dtype), block.data[0], dtype, block.count);
  return summarize_block(block.data[0], dtype, block.count, thresholds, nullptr);
}

TensorStats summarize_stretch(const SummaryJob& job, const Piece& piece, LogHistogram* histogram, double& moved) {
  const DType dtype = job.tensor.dtype();
  const Layout layout(job.tensor);
  const Thresholds thresholds = thresholds_of(dtype, job.options);
  BlockReader reader(layout, operand_of(job.tensor), {}, piece.begin, piece.end);
  TensorStats total;
  moved = 0;
  for (Block block; reader.next(block);) {
    double way = 0;
    TensorStats part = job.before != nullptr
                           ? summarize_and_follow(job, block, thresholds, way)
                           : summarize_block(block.data[0], dtype, block.count, thresholds, histogram);
    moved += way;
    const bool in_order = layout.in_order();  // then an index once found is the smallest
    if (part.nan_count > 0 && !(in_order && total.first_nan != TensorStats::kNone)) {
      part.first_nan = first_index(block, dtype, layout, total.first_nan, [](double x) { return std::isnan(x); });
    }
    if (part.inf_count > 0 && !(in_order && total.first_inf != TensorStats::kNone)) {
      part.first_inf = first_index(block, dtype, layout, total.first_inf, [](double x) { return std::isinf(x); });
    }
    fold(total, part);
  }
  return total;
}

void run_summary(Batch::Work& work, const Piece& piece) {
  const SummaryJob& job = work.summaries[piece.job];
  TensorStats& part = work.summary_parts[piece.part];
  double& moved = work.moved_parts[piece.part];
  if (job.histogram == SummaryJob::kNoHistogram) {
    part = summarize_stretch(job, piece, nullptr, moved);
  } else if (job.pieces == 1) {
    part = summarize_stretch(job, piece, &work.histograms[job.histogram], moved);
  } else {
    LogHistogram own;
    part = summarize_stretch(job, piece, &own, moved);
    const std::lock_guard lock(work.histogram_lock);
    work.histograms[job.histogram].merge(own);
  }
}

/// Blocks of any two types as blocks of one floating-point type.
template <typename Lane>
PairStats compare_as(const PairJob& job, const Block& block, std::array<Lane, kBlockElements>& a_room,
                     std::array<Lane, kBlockElements>& b_room) {
  constexpr DType kSame = sizeof(Lane) == 4 ? DType::f32 : DType::f64;
  const Lane* sides[2] = {};
  for (std::size_t k = 0; k < 2; ++k) {
    const DType dtype = k == 0 ? job.a.dtype() : job.b.dtype();
    Lane* const room = k == 0 ? a_room.data() : b_room.data();
    if (dtype == kSame) {
      sides[k] = reinterpret_cast<const Lane*>(block.data[k]);
    } else {
      widen_block(block.data[k], dtype, block.count, room);
      sides[k] = room;
    }
  }
  return compare_block(sides[0], sides[1], block.count, resolution_of(job.a.dtype()));
}

template <typename Lane>
PairStats compare_stretch(const PairJob& job, const Piece& piece) {
  const Layout layout(job.a, &job.b);
  BlockReader reader(layout, operand_of(job.a), operand_of(job.b), piece.begin, piece.end);
  alignas(64) std::array<Lane, kBlockElements> a_room;
  alignas(64) std::array<Lane, kBlockElements> b_room;
  PairStats total;
  for (Block block; reader.next(block);) total.merge(compare_as<Lane>(job, block, a_room, b_room));
  return total;
}

void run_pair(Batch::Work& work, const Piece& piece) {
  const PairJob& job = work.pairs[piece.job];
  const bool wide = job.a.dtype() == DType::f64 || job.b.dtype() == DType::f64;
  work.pair_parts[piece.part] = wide ? compare_stretch<double>(job, piece) : compare_stretch<float>(job, piece);
}

void run_units(Batch::Work& work, const Piece& piece) {
  UnitJob& job = work.units[piece.job];
  const DType dtype = job.tensor.dtype();
  const std::uint64_t threshold = threshold_bits(dtype, job.threshold);
  const Layout places(job.tensor, nullptr, job.axis);
  const std::int64_t stride = job.tensor.strides()[job.axis];
  const Operand first = moved(operand_of(job.tensor), static_cast<std::int64_t>(piece.begin) * stride);
  std::uint32_t* const active = job.answer.active.data();
  if (stride == 1) {
    Cursor place(places, 0);
    for (std::uint64_t i = 0; i < places.count(); ++i, place.advance(1)) {
      const std::byte* const units = moved(first, place.offsets()[0]).data;
      add_active(units, dtype, piece.end - piece.begin, threshold, active + piece.begin);
    }
    return;
  }
  for (std::uint64_t unit = piece.begin; unit < piece.end; ++unit) {
    const Operand own = moved(first, static_cast<std::int64_t>(unit - piece.begin) * stride);
    BlockReader reader(places, own, {}, 0, places.count());
    for (Block block; reader.next(block);) {
      active[unit] += static_cast<std::uint32_t>(count_active(block.data[0], dtype, block.count, threshold));
    }
  }
}

/// The squared norm of one row; not finite when an element is not.
double squared_norm(const Layout& layout, const Operand& row, DType dtype, std::array<double, kBlockElements>& room) {
  BlockReader reader(layout, row, {}, 0, layout.count());
  double sum = 0;
  for (Block block; reader.next(block);) {
    widen_block(block.data[0], dtype, block.count, room.data());
    double part = 0;
    for (std::size_t i = 0; i < block.count; ++i) part += room[i] * room[i];
    sum += part;
  }
  return sum;
}

void add_row(const Layout& layout, const Operand& row, double norm, std::array<double, kBlockElements>& room,
             RowJob& job) {
  BlockReader reader(layout, row, {}, 0, layout.count());
  for (Block block; reader.next(block);) {
    widen_block(block.data[0], job.tensor.dtype(), block.count, room.data());
    double* const directions = job.directions.data() + block.ordinal;
    double* const sums = job.sums.data() + block.ordinal;
    const double scale = 1 / norm;
    for (std::size_t i = 0; i < block.count; ++i) {
      directions[i] += room[i] * scale;
      sums[i] += room[i];
    }
  }
}

double squared_norm(const std::vector<double>& vector) {
  double sum = 0;
  for (const double x : vector) sum += x * x;
  return sum;
}

void run_rows(Batch::Work& work, const Piece& piece) {
  RowJob& job = work.rows[piece.job];
  RowSimilarity& answer = job.answer;
  const Layout features(job.tensor, nullptr, 0);
  alignas(64) std::array<double, kBlockElements> room;
  double squares = 0;
  for (std::uint64_t i = 0; i < answer.rows; ++i) {
    const Operand row = moved(operand_of(job.tensor), static_cast<std::int64_t>(i) * job.tensor.strides()[0]);
    const double squared = squared_norm(features, row, job.tensor.dtype(), room);
    if (!std::isfinite(squared)) {
      ++answer.nonfinite_rows;
    } else if (squared == 0) {
      ++answer.zero_rows;
    } else {
      squares += squared;
      add_row(features, row, std::sqrt(squared), room, job);
    }
  }
  const double finite = static_cast<double>(answer.rows - answer.nonfinite_rows);
  const double directed = finite - static_cast<double>(answer.zero_rows);
  // The squared norm of a sum of unit vectors is their number plus twice the cosines of all pairs.
  if (directed >= 2) {
    answer.mean_cosine = (squared_norm(job.directions) - directed) / (directed * (directed - 1));
  }
  if (squares > 0) answer.spread = std::max(0.0, 1 - squared_norm(job.sums) / (finite * squares));
}

}  // namespace

void run(Batch::Work& work, const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::summary:
      return run_summary(work, piece);
    case Piece::Kind::pair:
      return run_pair(work, piece);
    case Piece::Kind::units:
      return run_units(work, piece);
    case Piece::Kind::rows:
      return run_rows(work, piece);
  }
}

void finish(Batch::Work& work) {
  for (std::size_t i = 0; i < work.summaries.size(); ++i) {
    SummaryJob& job = work.summaries[i];
    job.answer = {};
    job.moved = 0;
    for (std::size_t k = 0; k < job.pieces; ++k) {
      fold(job.answer, work.summary_parts[job.first_piece + k]);
      job.moved += work.moved_parts[job.first_piece + k];
    }
  }
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    PairJob& job = work.pairs[i];
    job.answer = {};
    for (std::size_t k = 0; k < job.pieces; ++k) job.answer.merge(work.pair_parts[job.first_piece + k]);
  }
}

}  // namespace osler::stats
