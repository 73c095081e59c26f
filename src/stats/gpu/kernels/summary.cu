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
      if (bins && value != 0 && finite(value)) count_in(bins, bin_of((typename E::Lane)value), lane);
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

// Takes one vector in. Sums of at most sixteen elements are single ones, of more double ones, as on the host.
template <class E>
DEVICE void add_vector(const typename E::Lane* x, typename E::Lane near, Sums<typename E::Lane>& sums,
                       typename E::Lane& sum, typename E::Lane& squares, typename E::Lane& l1) {
  typedef typename E::Lane Lane;
  Lane least = magnitude(x[0]);
#pragma unroll
  for (int c = 0; c < E::kWidth; ++c) {
    const Lane deviation = x[c] - sums.shift;
    sum += deviation;
    squares += deviation * deviation;
    l1 += magnitude(x[c]);
    sums.min = smaller(sums.min, x[c]);
    sums.max = larger(sums.max, x[c]);
    if (c > 0) least = smaller(least, magnitude(x[c]));
  }
  if (least <= near) {
#pragma unroll
    for (int c = 0; c < E::kWidth; ++c) {
      const Lane size = magnitude(x[c]);
      sums.zeros += size == 0;
      sums.near += size <= near;
      if (size > 0) sums.smallest = smaller(sums.smallest, size);
    }
  } else {
    sums.smallest = smaller(sums.smallest, least);
  }
}

// Measures `turns` times kFetch vectors of each lane, from an address that is aligned or not.
template <class E, bool kFull>
DEVICE void look_over(const unsigned char* data, unsigned turns, const TableTensor& tensor, unsigned* bins,
                      float& sketch, unsigned place, Sums<typename E::Lane>& sums) {
  typedef typename E::Lane Lane;
  constexpr int kFold = sizeof(Lane) == 4 ? 16 / E::kWidth : kFetch;  // vectors summed in single precision
  const unsigned lane = threadIdx.x % kLanes;
  const Lane near = (Lane)tensor.near;
  const bool whole = tensor.flags & kAligned;
  const bool follows = kFull && (tensor.flags & kSketched);
  const bool counts = kFull && (tensor.flags & kCounted);
  data += lane * 16;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn, data += kFetch * kLanes * 16) {
    Vector v[kFetch];
    if (whole) {
#pragma unroll
      for (int u = 0; u < kFetch; ++u) v[u] = fetch(data + u * kLanes * 16);
    } else {
#pragma unroll
      for (int u = 0; u < kFetch; ++u) v[u] = E::gather(data + u * kLanes * 16);
    }
    if (turn == 0) {
      // Near the mean, so that squares of deviations do not cancel: the mean of the first turn.
      Lane sum = 0;
#pragma unroll
      for (int u = 0; u < kFetch; ++u) {
        Lane x[E::kWidth];
        E::unpack(v[u], x);
#pragma unroll
        for (int c = 0; c < E::kWidth; ++c) sum += x[c];
      }
      sums.shift = warp_sum(sum) / (Lane)(kFetch * E::kWidth * kLanes);
    }
    const unsigned signs = follows ? signs_of(place, turn) : 0;
    Lane sum = 0, squares = 0, l1 = 0;
#pragma unroll
    for (int u = 0; u < kFetch; ++u) {
      Lane x[E::kWidth];
      E::unpack(v[u], x);
      add_vector<E>(x, near, sums, sum, squares, l1);
      if (follows) {
#pragma unroll
        for (int c = 0; c < E::kWidth; ++c) sketch += signed_by((float)x[c], signs, u * E::kWidth + c);
      }
      if (counts) {
#pragma unroll
        for (int c = 0; c < E::kWidth; ++c) {
          if (x[c] != 0 && (sizeof(Lane) == 4 || finite(x[c]))) count_in(bins, bin_of(x[c]), lane);
        }
      }
      if ((u + 1) % kFold == 0 || u + 1 == kFetch) {
        sums.sum += (double)sum;
        sums.squares += (double)squares;
        sums.l1 += (double)l1;
        sum = squares = l1 = 0;
      }
    }
  }
}

// The warp's part from the lanes' sums, if they can be believed: no NaN or infinity came in, no square was lost below
// or above, and nothing has to be counted that was not.
template <class E>
DEVICE bool believed(const Sums<typename E::Lane>& sums, unsigned count, const TableTensor& tensor, SummaryPart* to) {
  SummaryPart part = nothing();
  const double sum = warp_sum(sums.sum), squares = warp_sum(sums.squares), shift = sums.shift;
  part.l1 = warp_sum(sums.l1);
  part.min = warp_min(sums.min);
  part.max = warp_max(sums.max);
  const double range = larger(part.max - shift, shift - part.min);
  constexpr double kSmallestRange = sizeof(typename E::Lane) == 4 ? 0x1p-40 : 0;
  if (!finite(sum) || !finite(squares) || !finite(part.l1) || (range != 0 && range < kSmallestRange)) return false;
  if (part.min <= tensor.low || part.max >= tensor.high) return false;
  part.smallest = warp_min(sums.smallest);
  part.zeros = warp_count(sums.zeros);
  part.near = warp_count(sums.near);
  part.finite = count;
  const bool equal = part.min == part.max;
  part.mean = equal ? part.min : shift + sum / count;
  part.m2 = equal ? 0 : larger(0.0, squares - sum * sum / count);
  if (threadIdx.x % kLanes == 0) *to = part;
  return true;
}

// One stretch of a tensor, by one warp.
template <class E, bool kFull>
DEVICE void measure_stretch(const TableTensor& tensor, const TableAxis* axes, Word begin, unsigned count, unsigned* bins,
                            SummaryPart* to) {
  typedef typename E::Lane Lane;
  constexpr unsigned kTurn = kFetch * E::kWidth * kLanes;
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned place = (unsigned)(begin / (kStretchBytes / E::kBytes)) * kLanes + lane;
  const unsigned flags = tensor.flags;
  const bool quick = (flags & kDense) && !(kFull && (flags & kCopied));
  const unsigned turns = quick ? count / kTurn : 0;
  float sketch = 0;
  if (turns > 0) {
    const Lane far = (Lane)endless();
    Sums<Lane> sums = {0, far, -far, far, 0, 0, 0, 0, 0};
    const unsigned char* const data = (const unsigned char*)tensor.data + begin * E::kBytes;
    look_over<E, kFull>(data, turns, tensor, bins, sketch, place, sums);
    if (!believed<E>(sums, turns * kTurn, tensor, to)) {
      look_closely<E>(tensor, axes, begin, turns * kTurn, nullptr, 0, to);
    }
  }
  if (turns * kTurn < count) {
    sketch += look_closely<E>(tensor, axes, begin + turns * kTurn, count - turns * kTurn,
                              kFull && (flags & kCounted) ? bins : nullptr, place, to);
  }
  if (kFull && (flags & kSketched)) {
    float* const memory = (float*)tensor.memory + place;
    const double way = (double)sketch - (double)*memory;
    *memory = sketch;
    const double moved = warp_sum(finite(way) ? way * way : 0.0);
    if (lane == 0) to->moved += moved;
  }
}

template <class E, bool kFull>
DEVICE void summarize(const TableTensor* tensors, const TableAxis* axes, const TableChunk* chunks, SummaryPart* parts,
                      Word* histograms) {
  constexpr unsigned kStretch = kStretchBytes / E::kBytes;
  __shared__ SummaryPart found[kWarps];
  __shared__ unsigned bins[kFull ? kBins * kCopies : 1];
  const TableChunk chunk = chunks[blockIdx.x];
  const TableTensor& tensor = tensors[chunk.item];
  const unsigned warp = threadIdx.x / kLanes;
  const bool counts = kFull && (tensor.flags & kCounted);
  if (counts) {
    for (unsigned i = threadIdx.x; i < kBins * kCopies; i += blockDim.x) bins[i] = 0;
    __syncthreads();
  }
  const Word begin = ((Word)chunk.number * kWarps + warp) * kStretch;
  if (threadIdx.x % kLanes == 0) found[warp] = nothing();
  __syncwarp();
  if (begin < tensor.count) {
    const Word left = tensor.count - begin;
    const unsigned count = left < kStretch ? (unsigned)left : kStretch;
    measure_stretch<E, kFull>(tensor, axes, begin, count, bins, found + warp);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    SummaryPart part = found[0];
    for (unsigned i = 1; i < kWarps; ++i) append(part, found[i]);
    parts[tensor.first_part + chunk.number] = part;
  }
  for (unsigned bin = threadIdx.x; counts && bin < kBins; bin += blockDim.x) {
    // Exponents of all ones are NaN and infinity, which a histogram leaves out; of doubles they never came in.
    if (sizeof(typename E::Lane) == 4 && bin % 256 == 255) continue;
    unsigned sum = 0;
    for (unsigned i = 0; i < kCopies; ++i) sum += bins[bin * kCopies + i];
    if (sum > 0) atomicAdd(histograms + (Word)tensor.histogram * kBins + bin, (Word)sum);
  }
}

// The kernels by name: the type, and whether a tensor is followed or counted.
#define OSLER_SUMMARIZE(NAME, E, FULL)                                                                      \
  extern "C" __global__ void __launch_bounds__(kWarps* kLanes, kSummaryBlocks)                                \
      NAME(const TableTensor* tensors, const TableAxis* axes, const TableChunk* chunks, SummaryPart* parts, \
           Word* histograms) {                                                                              \
    summarize<E, FULL>(tensors, axes, chunks, parts, histograms);                                           \
  }
OSLER_SUMMARIZE(summarize_f32, F32, false)
OSLER_SUMMARIZE(summarize_f32_full, F32, true)
OSLER_SUMMARIZE(summarize_f64, F64, false)
OSLER_SUMMARIZE(summarize_f64_full, F64, true)
OSLER_SUMMARIZE(summarize_f16, F16, false)
OSLER_SUMMARIZE(summarize_f16_full, F16, true)
OSLER_SUMMARIZE(summarize_bf16, BF16, false)
OSLER_SUMMARIZE(summarize_bf16_full, BF16, true)

// One block for each tensor: its parts in an order that never changes.
extern "C" __global__ void __launch_bounds__(256) finish_summaries(const TableTensor* tensors, const SummaryPart* parts,
                                                                   SummaryPart* results) {
  __shared__ SummaryPart found[256];
  const TableTensor& tensor = tensors[blockIdx.x];
  SummaryPart part = nothing();
  for (unsigned i = threadIdx.x; i < tensor.parts; i += 256) append(part, parts[tensor.first_part + i]);
  found[threadIdx.x] = part;
  for (unsigned way = 128; way > 0; way /= 2) {
    __syncthreads();
    if (threadIdx.x >= way) continue;
    append(part, found[threadIdx.x + way]);
    found[threadIdx.x] = part;
  }
  if (threadIdx.x == 0) results[blockIdx.x] = part;
}
