// The statistics of all tensors of one type, in one pass; then those of each tensor from those of its parts.

DEVICE SummaryPart nothing() {
  SummaryPart part = {};
  part.first_nan = part.first_inf = kNone;
  part.min = part.smallest = endless();
  part.max = -endless();
  return part;
}

// Chan's parallel form of Welford's update, as TensorStats::append does it.
DEVICE void append(SummaryPart& to, const SummaryPart& more) {
  const double before = (double)to.finite, added = (double)more.finite;
  to.nan += more.nan;
  to.inf += more.inf;
  to.first_nan = smaller(to.first_nan, more.first_nan);
  to.first_inf = smaller(to.first_inf, more.first_inf);
  to.moved += more.moved;
  if (more.finite == 0) return;
  const double delta = more.mean - to.mean;
  to.m2 += more.m2;
  if (to.finite == 0) {
    to.mean = more.mean;
  } else if (delta != 0) {
    const double share = added / (before + added);
    to.mean += delta * share;
    to.m2 += delta * delta * (before * share);
  }
  to.finite += more.finite;
  to.l1 += more.l1;
  to.min = smaller(to.min, more.min);
  to.max = larger(to.max, more.max);
  to.smallest = smaller(to.smallest, more.smallest);
  to.zeros += more.zeros;
  to.near += more.near;
  to.low += more.low;
  to.high += more.high;
}

// What is asked of the tensors of a launch.
constexpr int kPlain = 0;
constexpr int kFollows = 1;
constexpr int kCounts = 2;  // and perhaps followed

// Signs for the sketches: the bits of a number that looks random, the same in every step.
DEVICE unsigned signs_of(unsigned place, unsigned turn) {
  unsigned x = place * 0x9E3779B1u + turn * 0x7FEB352Du;
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
DEVICE float signed_by(float x, unsigned signs, int bit) {
  return __uint_as_float(__float_as_uint(x) ^ (signs << (31 - bit) & 0x80000000u));
}

// Where an element lies, and which index it has in the tensor's own order.
struct Place {
  long long offset;
  Word index;
};
DEVICE Place place_of(const TableTensor& tensor, const TableAxis* axes, Word ordinal) {
  Place place = {0, 0};
  Word rest = ordinal;
  for (unsigned i = tensor.rank; i-- > 0;) {
    const TableAxis& axis = axes[tensor.axis + i];
    const Word at = rest % axis.size;
    rest /= axis.size;
    place.offset += (long long)at * axis.strides[0];
    place.index += at * axis.index_step;
  }
  if (tensor.flags & kDense) place.offset = (long long)ordinal;
  if (tensor.flags & kInOrder) place.index = ordinal;
  return place;
}

// What one lane has seen of elements that it took one by one.
struct Counts {
  double shift, sum, squares, l1, min, max, smallest, moved;
  Word first_nan, first_inf;
  unsigned finite, nan, inf, zeros, near, low, high;
};

DEVICE void add_element(double x, const TableTensor& tensor, const TableAxis* axes, Word ordinal, Counts& counts) {
  if (!finite(x)) {
    const Word index = place_of(tensor, axes, ordinal).index;
    if (isnan(x)) {
      ++counts.nan;
      counts.first_nan = smaller(counts.first_nan, index);
    } else {
      ++counts.inf;
      counts.first_inf = smaller(counts.first_inf, index);
    }
    return;
  }
  const double size = fabs(x), deviation = x - counts.shift;
  ++counts.finite;
  counts.sum += deviation;
  counts.squares += deviation * deviation;
  counts.l1 += size;
  counts.min = smaller(counts.min, x);
  counts.max = larger(counts.max, x);
  if (size > 0) counts.smallest = smaller(counts.smallest, size);
  counts.zeros += size == 0;
  counts.near += size <= tensor.near;
  counts.low += x <= tensor.low;
  counts.high += x >= tensor.high;
}

// Of the lanes' counts; lane 0 adds them to what was found before.
DEVICE void gather_counts(const Counts& counts, SummaryPart* to) {
  SummaryPart part;
  const double sum = warp_sum(counts.sum), squares = warp_sum(counts.squares);
  part.finite = warp_count(counts.finite);
  part.nan = warp_count(counts.nan);
  part.inf = warp_count(counts.inf);
  part.first_nan = warp_min(counts.first_nan);
  part.first_inf = warp_min(counts.first_inf);
  part.zeros = warp_count(counts.zeros);
  part.near = warp_count(counts.near);
  part.low = warp_count(counts.low);
  part.high = warp_count(counts.high);
  part.l1 = warp_sum(counts.l1);
  part.min = warp_min(counts.min);
  part.max = warp_max(counts.max);
  part.smallest = warp_min(counts.smallest);
  part.moved = warp_sum(counts.moved);
  const double finite = (double)part.finite;
  const bool equal = part.finite == 0 || part.min == part.max;
  part.mean = part.finite == 0 ? 0 : equal ? part.min : counts.shift + sum / finite;
  part.m2 = equal ? 0 : larger(0.0, squares - sum * sum / finite);
  if (threadIdx.x % kLanes == 0) append(*to, part);
}

// The first finite value that any lane has; 0 where there is none.
template <int kRound>
DEVICE double shift_among(const double* x) {
  double own = 0;
  bool has = false;
#pragma unroll
  for (int i = kRound - 1; i >= 0; --i) {
    if (finite(x[i])) own = x[i], has = true;
  }
  const unsigned who = __ballot_sync(kAll, has);
  return who == 0 ? 0 : __shfl_sync(kAll, own, __ffs(who) - 1);
}

template <class E>
DEVICE void copy_element(const unsigned char* from, unsigned char* to) {
  if (E::kBytes == 8) {
    *(Word*)to = *(const Word*)from;
  } else if (E::kBytes == 4) {
    *(unsigned*)to = *(const unsigned*)from;
  } else {
    *(unsigned short*)to = *(const unsigned short*)from;
  }
}

// Takes each element by itself: any layout, any value. `bins` is null where nothing is counted. Returns the elements'
// share of the sketch.
template <class E>
static __device__ __noinline__ float look_closely(const TableTensor& tensor, const TableAxis* axes, Word begin,
                                                  unsigned count, unsigned* bins, unsigned place, SummaryPart* to) {
  constexpr int kRound = 8;  // loads under way at once
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned char* const data = (const unsigned char*)tensor.data;
  unsigned char* const memory = (unsigned char*)tensor.memory;
  const bool dense = tensor.flags & kDense;
  const bool copied = tensor.flags & kCopied;
  Counts counts = {0, 0, 0, 0, endless(), -endless(), endless(), 0, kNone, kNone, 0, 0, 0, 0, 0, 0, 0};
  float sketch = 0;
#pragma unroll 1
  for (unsigned base = 0, turn = 8; base < count; base += kRound * kLanes, ++turn) {
    double x[kRound];
#pragma unroll
    for (int i = 0; i < kRound; ++i) {
      const unsigned at = base + i * kLanes + lane;
      x[i] = __hiloint2double(0x7FF80000, 0);
      if (at >= count) continue;
      x[i] = E::at(data + (dense ? (long long)(begin + at) : place_of(tensor, axes, begin + at).offset) * E::kBytes);
    }
    if (base == 0) counts.shift = shift_among<kRound>(x);
    const unsigned signs = signs_of(place, turn);
#pragma unroll 1
    for (int i = 0; i < kRound; ++i) {
      const unsigned at = base + i * kLanes + lane;
      if (at >= count) break;
      double value = x[0];
#pragma unroll
      for (int k = 1; k < kRound; ++k) value = i == k ? x[k] : value;
      sketch += signed_by((float)value, signs, i);
      if (copied) {
        unsigned char* const before = memory + (begin + at) * E::kBytes;
        const double way = value - E::at(before);
        if (finite(way)) counts.moved += way * way;
        copy_element<E>(data + (begin + at) * E::kBytes, before);
      }
      add_element(value, tensor, axes, begin + at, counts);
      if (bins && value != 0 && finite(value)) count_in(bins, (typename E::Lane)value);
    }
  }
  gather_counts(counts, to);
  return sketch;
}

// What one lane has seen of a stretch that is measured in whole vectors.
template <class Lane>
struct Sums {
  Lane shift, min, max, smallest;
  double sum, squares, l1;
  unsigned zeros, near;
};

// And of all stretches so far, its sums about `reference`: in shared memory, which leaves the registers to the vectors.
struct Totals {
  double reference[kWarps * kLanes], sum[kWarps * kLanes], squares[kWarps * kLanes], l1[kWarps * kLanes];
  double min[kWarps * kLanes], max[kWarps * kLanes], smallest[kWarps * kLanes];
  unsigned zeros[kWarps * kLanes], near[kWarps * kLanes], elements[kWarps * kLanes];
};

// Takes one vector in. Sums of at most sixteen elements are single ones, of more double ones, as on the host.
template <class E>
DEVICE void add_vector(const typename E::Lane* x, Sums<typename E::Lane>& sums, typename E::Lane& sum,
                       typename E::Lane& squares, typename E::Lane& l1, typename E::Lane& least) {
  typedef typename E::Lane Lane;
#pragma unroll
  for (int c = 0; c < E::kWidth; ++c) {
    const Lane deviation = x[c] - sums.shift;
    sum += deviation;
    squares += deviation * deviation;
    l1 += magnitude(x[c]);
    sums.min = smaller(sums.min, x[c]);
    sums.max = larger(sums.max, x[c]);
    least = smaller(least, magnitude(x[c]));
  }
}

// Takes in how many of a turn's elements are zero or nearly so, where one of them is.
template <class E>
DEVICE void add_small(const Vector* v, typename E::Lane near, Sums<typename E::Lane>& sums) {
  typedef typename E::Lane Lane;
#pragma unroll
  for (int u = 0; u < kFetch; ++u) {
    Lane x[E::kWidth];
    E::unpack(v[u], x);
#pragma unroll
    for (int c = 0; c < E::kWidth; ++c) {
      const Lane size = magnitude(x[c]);
      sums.zeros += size == 0;
      sums.near += size <= near;
      if (size > 0) sums.smallest = smaller(sums.smallest, size);
    }
  }
}

template <class E, bool kWhole>
DEVICE void fetch_turn(const unsigned char* from, Vector* v) {
#pragma unroll
  for (int u = 0; u < kFetch; ++u) v[u] = kWhole ? fetch(from + u * kLanes * 16) : E::gather(from + u * kLanes * 16);
}

// Near the lane's mean, so that squares of deviations do not cancel: the mean of its first turn.
template <class E>
DEVICE typename E::Lane shift_of(const Vector* v) {
  typedef typename E::Lane Lane;
  Lane sum = 0;
#pragma unroll
  for (int u = 0; u < kFetch; ++u) {
    Lane x[E::kWidth];
    E::unpack(v[u], x);
#pragma unroll
    for (int c = 0; c < E::kWidth; ++c) sum += x[c];
  }
  return sum * (Lane)(1.0 / (kFetch * E::kWidth));
}

// One of -1 and 1 by a bit.
DEVICE float sign_at(unsigned bits, int bit) {
  return __uint_as_float((bits << (31 - bit) & 0x80000000u) | 0x3F800000u);
}

// The sum of a turn's elements with random signs: neighbours differ by one sign, pairs of them by another, and so on, so
// that any two signs are independent of each other and an element costs one multiplication.
template <class E>
DEVICE float signed_sum(const Vector* v, unsigned bits) {
  constexpr int kWidthBits = E::kWidth == 8 ? 3 : E::kWidth == 4 ? 2 : 1;
  float total = 0;
#pragma unroll
  for (int u = 0; u < kFetch; ++u) {
    typename E::Lane x[E::kWidth];
    E::unpack(v[u], x);
    float y[E::kWidth];
#pragma unroll
    for (int c = 0; c < E::kWidth; ++c) y[c] = (float)x[c];
#pragma unroll
    for (int level = 0, n = E::kWidth / 2; n > 0; n /= 2, ++level) {
#pragma unroll
      for (int c = 0; c < n; ++c) y[c] += y[c + n] * sign_at(bits, level);
    }
    total += y[0] * sign_at(bits, kWidthBits + u);
  }
  return total;
}

// Takes the vectors of one turn in.
template <class E, int kMode>
DEVICE void add_turn(const Vector* v, unsigned flags, typename E::Lane near, unsigned place, unsigned turn,
                     unsigned* bins, float& sketch, Sums<typename E::Lane>& sums) {
  typedef typename E::Lane Lane;
  constexpr int kFold = sizeof(Lane) == 4 ? 16 / E::kWidth : kFetch;  // vectors summed in single precision
  Lane sum = 0, squares = 0, l1 = 0, least = (Lane)endless();
#pragma unroll
  for (int u = 0; u < kFetch; ++u) {
    Lane x[E::kWidth];
    E::unpack(v[u], x);
    add_vector<E>(x, sums, sum, squares, l1, least);
    if ((u + 1) % kFold == 0 || u + 1 == kFetch) {
      sums.sum += (double)sum;
      sums.squares += (double)squares;
      sums.l1 += (double)l1;
      sum = squares = l1 = 0;
    }
  }
  if (least <= near) {
    add_small<E>(v, near, sums);
  } else {
    sums.smallest = smaller(sums.smallest, least);
  }
  if (kMode >= kFollows && (flags & kSketched)) sketch += signed_sum<E>(v, signs_of(place, turn));
  if (kMode >= kCounts && (flags & kCounted)) {
#pragma unroll
    for (int u = 0; u < kFetch; ++u) {
      Lane x[E::kWidth];
      E::unpack(v[u], x);
#pragma unroll
      for (int c = 0; c < E::kWidth; ++c) {
        if (x[c] != 0 && (sizeof(Lane) == 4 || finite(x[c]))) count_in(bins, x[c]);
      }
    }
  }
}

// Whether the warp's sums of a stretch can be believed: no NaN or infinity came in, no square was lost below or above,
// and nothing has to be counted that was not.
template <class Lane>
DEVICE bool believed(const Sums<Lane>& sums, const TableTensor& tensor) {
  constexpr Lane kSmallestRange = sizeof(Lane) == 4 ? (Lane)0x1p-40 : (Lane)0;
  const Lane range = larger(sums.max - sums.shift, sums.shift - sums.min);
  const bool sound = finite(sums.sum) && finite(sums.squares) && finite(sums.l1) && (double)sums.min > tensor.low &&
                     (double)sums.max < tensor.high;
  return __all_sync(kAll, sound) && (__any_sync(kAll, range >= kSmallestRange) || __all_sync(kAll, range == 0));
}

// Takes a stretch of so many elements a lane into its total.
template <class Lane>
DEVICE void add_stretch(const Sums<Lane>& sums, unsigned elements, Totals& totals) {
  const unsigned i = threadIdx.x;
  const bool first = totals.elements[i] == 0;
  const double shift = sums.shift, count = elements;
  const double way = first ? 0 : shift - totals.reference[i];
  const double sum = sums.sum + count * way, squares = sums.squares + way * (2 * sums.sum + count * way);
  if (first) totals.reference[i] = shift;
  totals.sum[i] = first ? sum : totals.sum[i] + sum;
  totals.squares[i] = first ? squares : totals.squares[i] + squares;
  totals.l1[i] = first ? sums.l1 : totals.l1[i] + sums.l1;
  totals.min[i] = first ? (double)sums.min : smaller(totals.min[i], (double)sums.min);
  totals.max[i] = first ? (double)sums.max : larger(totals.max[i], (double)sums.max);
  totals.smallest[i] = first ? (double)sums.smallest : smaller(totals.smallest[i], (double)sums.smallest);
  totals.zeros[i] = first ? sums.zeros : totals.zeros[i] + sums.zeros;
  totals.near[i] = first ? sums.near : totals.near[i] + sums.near;
  totals.elements[i] = first ? elements : totals.elements[i] + elements;
}

// The warp's part from the lanes' totals; lane 0 adds it to what was found before.
static __device__ __noinline__ void gather_totals(const Totals& totals, SummaryPart* to) {
  const unsigned i = threadIdx.x;
  if (totals.elements[i] == 0) return;  // as in the warp's other lanes
  SummaryPart part = nothing();
  const double own = totals.elements[i];
  const double reference = __shfl_sync(kAll, totals.reference[i], 0);
  const double way = totals.reference[i] - reference;
  const double sum = warp_sum(totals.sum[i] + own * way);
  const double squares = warp_sum(totals.squares[i] + way * (2 * totals.sum[i] + own * way));
  part.l1 = warp_sum(totals.l1[i]);
  part.min = warp_min(totals.min[i]);
  part.max = warp_max(totals.max[i]);
  part.smallest = warp_min(totals.smallest[i]);
  part.zeros = warp_count(totals.zeros[i]);
  part.near = warp_count(totals.near[i]);
  part.finite = (Word)totals.elements[i] * kLanes;
  const double count = (double)part.finite;
  const bool equal = part.min == part.max;
  part.mean = equal ? part.min : reference + sum / count;
  part.m2 = equal ? 0 : larger(0.0, squares - sum * sum / count);
  if (threadIdx.x % kLanes == 0) append(*to, part);
}

template <class E>
DEVICE unsigned place_at(Word begin) {
  return (unsigned)(begin / (kStretchBytes / E::kBytes)) * kLanes + threadIdx.x % kLanes;
}

// Where a lane's sketch of the stretch at `begin` is remembered.
template <class E>
DEVICE float* memory_at(const TableTensor& tensor, Word begin) {
  return (float*)tensor.memory + place_at<E>(begin);
}
DEVICE double squared_way(float sketch, float before) {
  const double way = (double)sketch - (double)before;
  return finite(way) ? way * way : 0;
}

// Measures one stretch in whole vectors, `turns` times kFetch of each lane; returns the lane's sketch.
template <class E, int kMode, bool kWhole>
DEVICE float measure_vectors(const TableTensor& tensor, const TableAxis* axes, Word begin, unsigned turns, unsigned* bins,
                             Totals& totals, SummaryPart* to) {
  typedef typename E::Lane Lane;
  const Lane near = (Lane)tensor.near, far = (Lane)endless();
  const unsigned flags = tensor.flags;
  const unsigned place = kMode >= kFollows ? place_at<E>(begin) : 0;
  const unsigned char* data =
      (const unsigned char*)tensor.data + begin * E::kBytes + threadIdx.x % kLanes * 16;
  Sums<Lane> sums = {0, far, -far, far, 0, 0, 0, 0, 0};
  float sketch = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn, data += kFetch * kLanes * 16) {
    Vector v[kFetch];
    fetch_turn<E, kWhole>(data, v);
    if (turn == 0) sums.shift = shift_of<E>(v);
    add_turn<E, kMode>(v, flags, near, place, turn, bins, sketch, sums);
  }
  if (believed(sums, tensor)) {
    add_stretch(sums, turns * kFetch * E::kWidth, totals);
  } else {
    look_closely<E>(tensor, axes, begin, turns * kFetch * E::kWidth * kLanes, nullptr, 0, to);
  }
  return sketch;
}

// One stretch of a tensor by one warp, whatever it is like.
template <class E, int kMode>
static __device__ __noinline__ void measure_slowly(const TableTensor& tensor, const TableAxis* axes, Word begin,
                                                   unsigned count, unsigned* bins, Totals& totals, SummaryPart* to) {
  constexpr unsigned kTurn = kFetch * E::kWidth * kLanes;
  const unsigned place = place_at<E>(begin);
  const unsigned flags = tensor.flags;
  const bool quick = (flags & kDense) && !(kMode >= kFollows && (flags & kCopied));
  const unsigned turns = quick ? count / kTurn : 0;
  float sketch = 0;
  if (turns > 0) sketch = measure_vectors<E, kMode, false>(tensor, axes, begin, turns, bins, totals, to);
  if (turns * kTurn < count) {
    sketch += look_closely<E>(tensor, axes, begin + turns * kTurn, count - turns * kTurn,
                              kMode >= kCounts && (flags & kCounted) ? bins : nullptr, place, to);
  }
  if (kMode >= kFollows && (flags & kSketched)) {
    float* const memory = memory_at<E>(tensor, begin);
    const double moved = warp_sum(squared_way(sketch, *memory));
    *memory = sketch;
    if (threadIdx.x % kLanes == 0) to->moved += moved;
  }
}

// The parts of the lanes of a warp as one, in lane 0.
DEVICE SummaryPart merged(const SummaryPart& own) {
  SummaryPart part;
  part.finite = warp_sum(own.finite);
  part.nan = warp_sum(own.nan);
  part.inf = warp_sum(own.inf);
  part.first_nan = warp_min(own.first_nan);
  part.first_inf = warp_min(own.first_inf);
  part.zeros = warp_sum(own.zeros);
  part.near = warp_sum(own.near);
  part.low = warp_sum(own.low);
  part.high = warp_sum(own.high);
  part.l1 = warp_sum(own.l1);
  part.min = warp_min(own.min);
  part.max = warp_max(own.max);
  part.smallest = warp_min(own.smallest);
  part.moved = warp_sum(own.moved);
  const unsigned who = __ballot_sync(kAll, own.finite > 0);
  const double reference = __shfl_sync(kAll, own.mean, who == 0 ? 0 : __ffs(who) - 1);
  const double count = (double)own.finite;
  const double way = own.finite > 0 ? own.mean - reference : 0;
  const double shift = who == 0 ? 0 : warp_sum(way * (count / (double)part.finite));
  const double rest = way - shift;
  part.mean = reference + shift;
  part.m2 = warp_sum(own.m2 + (rest != 0 && own.finite > 0 ? rest * rest * count : 0));
  return part;
}

// The stretches of a warp among the chunks of its block.
template <class E, int kMode>
DEVICE void measure_chunks(const TableTensor& tensor, const TableAxis* axes, const TableChunk& chunk, unsigned* bins,
                           Totals& totals, SummaryPart* to) {
  constexpr unsigned kStretch = kStretchBytes / E::kBytes;
  constexpr unsigned kTurn = kFetch * E::kWidth * kLanes;
  constexpr unsigned kQuick = kDense | kAligned;
  const bool quick = (tensor.flags & kQuick) == kQuick && !(kMode >= kFollows && (tensor.flags & kCopied));
  const bool follows = kMode >= kFollows && (tensor.flags & kSketched);
  double moved = 0;
#pragma unroll 1
  for (unsigned i = 0; i < chunk.count; ++i) {
    const Word begin = (((Word)chunk.number + i) * kWarps + threadIdx.x / kLanes) * kStretch;
    if (begin >= tensor.count) break;
    const Word left = tensor.count - begin;
    if (quick && left >= kStretch) {
      // Fetched before it is needed: nobody waits for it then.
      const float before = follows ? *memory_at<E>(tensor, begin) : 0;
      const float sketch = measure_vectors<E, kMode, true>(tensor, axes, begin, kStretch / kTurn, bins, totals, to);
      if (follows) {
        *memory_at<E>(tensor, begin) = sketch;
        moved += squared_way(sketch, before);
      }
    } else {
      measure_slowly<E, kMode>(tensor, axes, begin, left < kStretch ? (unsigned)left : kStretch, bins, totals, to);
    }
  }
  if (follows) {
    moved = warp_sum(moved);
    if (threadIdx.x % kLanes == 0) to->moved += moved;
  }
}

template <class E, int kMode>
DEVICE void summarize(const TableTensor* tensors, const TableAxis* axes, const TableChunk* chunks, SummaryPart* parts,
                      Word* histograms) {
  __shared__ SummaryPart found[kWarps];
  __shared__ Totals totals;
  __shared__ unsigned bins[kMode >= kCounts ? kBins : 1];
  const TableChunk chunk = chunks[blockIdx.x];
  const TableTensor& tensor = tensors[chunk.item];
  const unsigned warp = threadIdx.x / kLanes;
  const bool counts = kMode >= kCounts && (tensor.flags & kCounted);
  totals.elements[threadIdx.x] = 0;
  if (counts) clear_bins(bins);
  if (threadIdx.x % kLanes == 0) found[warp] = nothing();
  __syncthreads();
  measure_chunks<E, kMode>(tensor, axes, chunk, bins, totals, found + warp);
  gather_totals(totals, found + warp);
  __syncthreads();
  // Exponents of all ones are NaN and infinity, which a histogram leaves out; of doubles they never came in.
  if (counts) add_bins(bins, histograms + (Word)tensor.histogram * kBins, sizeof(typename E::Lane) == 4 ? 254 : 255);
  if (warp > 0) return;
  const SummaryPart part = merged(threadIdx.x < kWarps ? found[threadIdx.x] : nothing());
  if (threadIdx.x == 0) parts[chunk.part] = part;
}

// The kernels by name: the type, and whether tensors are followed or, perhaps, counted as well.
#define OSLER_SUMMARIZE(NAME, E, MODE, BLOCKS)                                                              \
  extern "C" __global__ void __launch_bounds__(kWarps* kLanes, BLOCKS)                                      \
      NAME(const TableTensor* tensors, const TableAxis* axes, const TableChunk* chunks, SummaryPart* parts, \
           Word* histograms) {                                                                              \
    summarize<E, MODE>(tensors, axes, chunks, parts, histograms);                                           \
  }
OSLER_SUMMARIZE(summarize_f32, F32, kPlain, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f32_followed, F32, kFollows, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f32_counted, F32, kCounts, kCountedBlocks)
OSLER_SUMMARIZE(summarize_f64, F64, kPlain, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f64_followed, F64, kFollows, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f64_counted, F64, kCounts, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f16, F16, kPlain, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f16_followed, F16, kFollows, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_f16_counted, F16, kCounts, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_bf16, BF16, kPlain, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_bf16_followed, BF16, kFollows, kSummaryBlocks)
OSLER_SUMMARIZE(summarize_bf16_counted, BF16, kCounts, kSummaryBlocks)

// One block for each tensor: its parts in an order that never changes.
extern "C" __global__ void __launch_bounds__(kWarps* kLanes)
    finish_summaries(const TableTensor* tensors, const SummaryPart* parts, SummaryPart* results) {
  __shared__ SummaryPart found[kWarps];
  const TableTensor& tensor = tensors[blockIdx.x];
  SummaryPart part = nothing();
  for (unsigned i = threadIdx.x; i < tensor.parts; i += kWarps * kLanes) append(part, parts[tensor.first_part + i]);
  part = merged(part);
  if (threadIdx.x % kLanes == 0) found[threadIdx.x / kLanes] = part;
  __syncthreads();
  if (threadIdx.x >= kLanes) return;
  part = merged(threadIdx.x < kWarps ? found[threadIdx.x] : nothing());
  if (threadIdx.x == 0) results[blockIdx.x] = part;
}
