// Takes questions, cuts them into pieces of work, and gives out the answers.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "stats/batch_work.h"
#include "stats/gpu/work_tables.h"
#include "stats/layout.h"
#include "stats/sketch.h"

namespace osler::stats {

namespace {

/// Large enough that taking a piece costs nothing beside it, small enough that threads end together.
constexpr std::uint64_t kPieceElements = std::uint64_t{1} << 14;
/// The same for units, whose pieces are read in strips and want to be long.
constexpr std::uint64_t kUnitPieceElements = std::uint64_t{1} << 18;
/// A tensor is cut into at most this many pieces, so that the memory for partial answers stays bounded.
constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 16;
/// Answers with one number for each unit or feature are given up to this many.
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 26;
/// What a piece costs beyond its elements, counted in elements.
constexpr std::uint64_t kPieceOverhead = 256;
/// Pieces are taken in runs of about this cost, so that thousands of small tensors do not fight over a counter.
constexpr std::uint64_t kGrainCost = std::uint64_t{1} << 14;
/// Libraries split the work on tensors of this size among their threads, each an equal stretch, and leave smaller ones
/// to the first (LibTorch's grain size). Who has touched a stretch has it in its cache.
constexpr std::uint64_t kSplitElements = std::uint64_t{1} << 15;
/// Up to this size a tensor that is followed is copied; beyond, the errors of the sketches of its blocks average out.
constexpr std::uint64_t kCopiedElements = std::uint64_t{1} << 14;
/// Units beside each other share cache lines; a piece takes at least this many.
constexpr std::uint64_t kUnitsAtLeast = 64;

/// Whole blocks: a block has its own place in the memory of a tensor that is followed.
std::uint64_t piece_elements(std::uint64_t count) {
  const std::uint64_t fewest = count / kMostPieces + 1;
  return std::max(kPieceElements, (fewest + kBlockElements - 1) / kBlockElements * kBlockElements);
}

/// Whether `follow` remembers such a tensor by sketches of its blocks and not as a copy.
bool sketched(DType dtype, std::uint64_t count) {
  return dtype == DType::f32 && count > kCopiedElements;
}

Error cannot(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), "statistics batch"};
}

/// Collects pieces, and closes a grain whenever enough of them have come together.
class Cutter {
 public:
  explicit Cutter(Batch::Work& work) : work_(work) {
    work_.pieces.clear();
    work_.grains.clear();
  }
  ~Cutter() {
    if (cost_ > 0) work_.grains.push_back({work_.pieces.size(), home_});
  }
  void add(const Piece& piece, std::uint64_t elements, double home = 0) {
    if (cost_ == 0) home_ = home;
    work_.pieces.push_back(piece);
    cost_ += elements + kPieceOverhead;
    if (cost_ < kGrainCost) return;
    work_.grains.push_back({work_.pieces.size(), home_});
    cost_ = 0;
  }
  /// Cuts `count` items of `elements_each` elements into stretches of `step`; returns how many.
  std::size_t add_stretches(Piece piece, std::uint64_t count, std::uint64_t step, std::uint64_t elements_each) {
    std::size_t pieces = 0;
    const bool split = count * elements_each >= kSplitElements;
    for (std::uint64_t begin = 0; begin < count; begin += step, ++pieces, ++piece.part) {
      piece.begin = begin;
      piece.end = std::min(begin + step, count);
      add(piece, (piece.end - piece.begin) * elements_each,
          split ? static_cast<double>(begin) / static_cast<double>(count) : 0);
    }
    return pieces;
  }

 private:
  Batch::Work& work_;
  std::uint64_t cost_ = 0;
  double home_ = 0;
};

}  // namespace

void cut(Batch::Work& work) {
  Cutter cutter(work);
  std::size_t part = 0;
  for (std::uint32_t i = 0; i < work.summaries.size(); ++i) {
    SummaryJob& job = work.summaries[i];
    job.first_piece = part;
    job.pieces = cutter.add_stretches({Piece::Kind::summary, i, part}, job.tensor.count(),
                                      piece_elements(job.tensor.count()), 1);
    part += job.pieces;
  }
  work.summary_parts.resize(part);
  work.moved_parts.resize(part);
  part = 0;
  for (std::uint32_t i = 0; i < work.pairs.size(); ++i) {
    PairJob& job = work.pairs[i];
    job.first_piece = part;
    job.pieces = cutter.add_stretches({Piece::Kind::pair, i, part}, job.a.count(), piece_elements(job.a.count()), 1);
    part += job.pieces;
  }
  work.pair_parts.resize(part);
  for (std::uint32_t i = 0; i < work.units.size(); ++i) {
    UnitActivity& activity = work.units[i].answer;
    std::fill(activity.active.begin(), activity.active.end(), 0u);
    if (activity.places == 0) continue;
    const std::uint64_t step = std::max(kUnitPieceElements / activity.places, kUnitsAtLeast);
    cutter.add_stretches({Piece::Kind::units, i}, activity.active.size(), step, activity.places);
  }
  for (std::uint32_t i = 0; i < work.rows.size(); ++i) {
    RowJob& job = work.rows[i];
    job.directions.assign(job.answer.features, 0);
    job.sums.assign(job.answer.features, 0);
    job.answer = {.rows = job.answer.rows, .features = job.answer.features};
    cutter.add({Piece::Kind::rows, i}, job.tensor.count());
  }
  std::fill(work.histograms.begin(), work.histograms.end(), LogHistogram{});
}

Batch::Batch() : work_(std::make_unique<Work>()) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

std::size_t Batch::summarize(const TensorView& tensor, const SummaryOptions& options) {
  SummaryJob& job = work_->summaries.take();
  job.tensor = tensor;
  job.options = options;
  job.histogram = SummaryJob::kNoHistogram;
  job.before = nullptr;
  job.answer = {};
  job.moved = 0;
  if (options.histogram) {
    job.histogram = work_->histograms.size();
    work_->histograms.emplace_back();
  }
  return work_->summaries.size() - 1;
}

std::size_t Batch::memory_to_follow(DType dtype, std::uint64_t count, Device device) {
  if (device.kind == Device::Kind::cuda) return gpu::memory_to_follow(dtype, count);
  if (!sketched(dtype, count)) return static_cast<std::size_t>(count) * element_bytes(dtype);
  const std::uint64_t blocks = (count + kBlockElements - 1) / kBlockElements;
  return static_cast<std::size_t>(blocks) * kSketchOfBlock * sizeof(float);
}

Result<std::size_t> Batch::follow(const TensorView& tensor, void* memory) {
  const Layout layout(tensor);
  const Axes& walk = layout.walk();
  const bool dense = layout.count() <= 1 || (walk.rank == 1 && walk.items[0].strides[0] == 1);
  if (!dense) return cannot("a tensor that is followed must lie densely in memory");
  const std::size_t number = summarize(tensor, {.brief = true});
  work_->summaries[number].before = static_cast<std::byte*>(memory);
  work_->summaries[number].sketched = sketched(tensor.dtype(), tensor.count());
  return number;
}

Result<std::size_t> Batch::compare(const TensorView& a, const TensorView& b) {
  if (!std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin(), b.sizes().end())) {
    return cannot("the two tensors to compare have different sizes");
  }
  if (a.device() != b.device()) return cannot("the two tensors to compare are on different devices");
  PairJob& job = work_->pairs.take();
  job.a = a;
  job.b = b;
  job.answer = {};
  return work_->pairs.size() - 1;
}

Result<std::size_t> Batch::count_units(const TensorView& tensor, std::size_t axis, double threshold) {
  if (axis >= tensor.sizes().size()) {
    return cannot("there is no dimension " + std::to_string(axis) + " in a tensor of " +
                  std::to_string(tensor.sizes().size()));
  }
  if (!(threshold >= 0)) return cannot("threshold " + std::to_string(threshold) + " is not a magnitude");
  const auto units = static_cast<std::size_t>(tensor.sizes()[axis]);
  const std::uint64_t places = units == 0 ? 0 : tensor.count() / units;
  if (units > kMostUnits) return cannot(std::to_string(units) + " units are too many");
  if (places > std::numeric_limits<std::uint32_t>::max()) return cannot("more than 2^32 - 1 elements in a unit");
  UnitJob& job = work_->units.take();
  job.tensor = tensor;
  job.axis = axis;
  job.threshold = threshold;
  job.answer.places = places;
  job.answer.active.resize(units);
  return work_->units.size() - 1;
}

Result<std::size_t> Batch::compare_rows(const TensorView& tensor) {
  if (tensor.sizes().empty()) return cannot("a tensor without dimensions has no rows");
  const auto rows = static_cast<std::uint64_t>(tensor.sizes()[0]);
  const std::uint64_t features = rows == 0 ? 0 : tensor.count() / rows;
  if (features > kMostUnits) return cannot("rows of " + std::to_string(features) + " features are too long");
  RowJob& job = work_->rows.take();
  job.tensor = tensor;
  job.answer = {.rows = rows, .features = features};
  return work_->rows.size() - 1;
}

void Batch::clear() {
  work_->summaries.clear();
  work_->pairs.clear();
  work_->units.clear();
  work_->rows.clear();
  work_->histograms.clear();
  work_->state = Work::State::idle;
}

const TensorStats& Batch::summary(std::size_t number) const {
  return work_->summaries[number].answer;
}

double Batch::moved(std::size_t number) const {
  return work_->summaries[number].moved;
}

const LogHistogram& Batch::histogram(std::size_t number) const {
  static const LogHistogram nothing;
  const std::size_t histogram = work_->summaries[number].histogram;
  return histogram == SummaryJob::kNoHistogram ? nothing : work_->histograms[histogram];
}

const PairStats& Batch::pair(std::size_t number) const {
  return work_->pairs[number].answer;
}

const UnitActivity& Batch::units(std::size_t number) const {
  return work_->units[number].answer;
}

const RowSimilarity& Batch::rows(std::size_t number) const {
  return work_->rows[number].answer;
}

}  // namespace osler::stats
