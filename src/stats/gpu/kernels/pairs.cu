// What two tensors say together, and how often the units of a tensor are active.

// Vectors of each side that a lane fetches before it looks at the first.
constexpr int kPairFetch = 2;

struct Products {
  double dot, aa, bb, dd;
  unsigned nonzero, below, finite;
};

DEVICE float octave_of(float x) { return __uint_as_float(__float_as_uint(x) & 0x7F800000u); }
DEVICE double octave_of(double x) { return __hiloint2double(__double2hiint(x) & 0x7FF00000, 0); }

template <class Lane>
DEVICE void add_pair(Lane a, Lane b, Lane relative, Lane smallest, Products& products) {
  const double x = a, y = b, way = y - x;
  products.dot += x * y;
  products.aa += x * x;
  products.bb += y * y;
  products.dd += way * way;
  products.nonzero += b != 0;
  products.below += b != 0 && magnitude(b) < larger(octave_of(a) * relative, smallest);
}

// Two tensors of the same type that lie alike and densely: whole vectors, `turns` times two of each side.
template <class E>
DEVICE void compare_vectors(const unsigned char* a, const unsigned char* b, unsigned turns, const TablePair& pair,
                            Products& products) {
  typedef typename E::Lane Lane;
  const unsigned lane = threadIdx.x % kLanes;
  const Lane relative = (Lane)pair.relative, smallest = (Lane)pair.smallest;
  const bool whole = pair.flags & kAligned;
  a += lane * 16;
  b += lane * 16;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn, a += kPairFetch * kLanes * 16, b += kPairFetch * kLanes * 16) {
    Vector v[kPairFetch], w[kPairFetch];
    if (whole) {
#pragma unroll
      for (int u = 0; u < kPairFetch; ++u) v[u] = fetch(a + u * kLanes * 16), w[u] = fetch(b + u * kLanes * 16);
    } else {
#pragma unroll
      for (int u = 0; u < kPairFetch; ++u) v[u] = E::gather(a + u * kLanes * 16), w[u] = E::gather(b + u * kLanes * 16);
    }
#pragma unroll
    for (int u = 0; u < kPairFetch; ++u) {
      Lane x[E::kWidth], y[E::kWidth];
      E::unpack(v[u], x);
      E::unpack(w[u], y);
#pragma unroll
      for (int c = 0; c < E::kWidth; ++c) add_pair<Lane>(x[c], y[c], relative, smallest, products);
    }
  }
}

// Each pair by itself: any layout, any types, any values.
static __device__ __noinline__ Products compare_closely(const TablePair& pair, const TableAxis* axes, Word begin,
                                                        unsigned count) {
  Products products = {};
  constexpr int kRound = 4;
  const unsigned lane = threadIdx.x % kLanes;
  for (unsigned base = 0; base < count; base += kRound * kLanes) {
    double x[kRound], y[kRound];
#pragma unroll
    for (int i = 0; i < kRound; ++i) {
      const unsigned at = base + i * kLanes + lane;
      x[i] = y[i] = 0;
      if (at >= count) continue;
      long long places[2] = {(long long)(begin + at), (long long)(begin + at)};
      if (!(pair.flags & kDense)) {
        places[0] = places[1] = 0;
        Word rest = begin + at;
        for (unsigned k = pair.rank; k-- > 0;) {
          const TableAxis& axis = axes[pair.axis + k];
          const Word along = rest % axis.size;
          rest /= axis.size;
          places[0] += (long long)along * axis.strides[0];
          places[1] += (long long)along * axis.strides[1];
        }
      }
      x[i] = element_at(pair.a_type, pair.a, places[0]);
      y[i] = element_at(pair.b_type, pair.b, places[1]);
    }
#pragma unroll
    for (int i = 0; i < kRound; ++i) {
      if (base + i * kLanes + lane >= count || !finite(x[i]) || !finite(y[i])) continue;
      ++products.finite;
      add_pair<double>(x[i], y[i], pair.relative, pair.smallest, products);
    }
  }
  return products;
}

DEVICE void add(Products& to, const Products& more) {
  to.dot += more.dot;
  to.aa += more.aa;
  to.bb += more.bb;
  to.dd += more.dd;
  to.nonzero += more.nonzero;
  to.below += more.below;
  to.finite += more.finite;
}

// Takes one stretch in.
template <class E>
DEVICE void compare_stretch(const TablePair& pair, const TableAxis* axes, Word begin, unsigned count, Products& total) {
  constexpr unsigned kTurn = kPairFetch * E::kWidth * kLanes;
  const bool quick = (pair.flags & kDense) && pair.a_type == pair.b_type;
  const unsigned turns = quick ? count / kTurn : 0;
  if (turns > 0) {
    Products products = {};
    const unsigned char* const a = (const unsigned char*)pair.a + begin * E::kBytes;
    const unsigned char* const b = (const unsigned char*)pair.b + begin * E::kBytes;
    compare_vectors<E>(a, b, turns, pair, products);
    const bool sound = finite(products.dot) && finite(products.aa) && finite(products.bb) && finite(products.dd);
    if (__all_sync(kAll, sound)) {
      products.finite = turns * kPairFetch * E::kWidth;
    } else {
      products = compare_closely(pair, axes, begin, turns * kTurn);
    }
    add(total, products);
  }
  if (turns * kTurn < count) add(total, compare_closely(pair, axes, begin + turns * kTurn, count - turns * kTurn));
}

// The parts of the lanes of a warp as one.
DEVICE PairPart merged(const PairPart& own) {
  PairPart part;
  part.finite = warp_sum(own.finite);
  part.nonzero = warp_sum(own.nonzero);
  part.below = warp_sum(own.below);
  part.dot = warp_sum(own.dot);
  part.aa = warp_sum(own.aa);
  part.bb = warp_sum(own.bb);
  part.dd = warp_sum(own.dd);
  return part;
}

// The parts of the threads of a block as one, in thread 0.
DEVICE PairPart merged_block(PairPart part, PairPart* found) {
  part = merged(part);
  __syncthreads();
  if (threadIdx.x % kLanes == 0) found[threadIdx.x / kLanes] = part;
  __syncthreads();
  if (threadIdx.x < kLanes) part = merged(threadIdx.x < kWarps ? found[threadIdx.x] : PairPart{});
  return part;
}

DEVICE void add(PairPart& to, const PairPart& more) {
  to.finite += more.finite;
  to.nonzero += more.nonzero;
  to.below += more.below;
  to.dot += more.dot;
  to.aa += more.aa;
  to.bb += more.bb;
  to.dd += more.dd;
}

template <class E>
DEVICE void compare(const TablePair* pairs, const TableAxis* axes, const TableChunk* chunks, PairPart* parts) {
  constexpr unsigned kStretch = kStretchBytes / E::kBytes;
  __shared__ PairPart found[kWarps];
  const TableChunk chunk = chunks[blockIdx.x];
  const TablePair& pair = pairs[chunk.item];
  Products total = {};
  for (unsigned i = 0; i < chunk.count; ++i) {
    const Word begin = (((Word)chunk.number + i) * kWarps + threadIdx.x / kLanes) * kStretch;
    if (begin >= pair.count) break;
    const Word left = pair.count - begin;
    compare_stretch<E>(pair, axes, begin, left < kStretch ? (unsigned)left : kStretch, total);
  }
  const PairPart part = merged_block(
      {total.finite, total.nonzero, total.below, total.dot, total.aa, total.bb, total.dd}, found);
  if (threadIdx.x == 0) parts[chunk.part] = part;
}

#define OSLER_COMPARE(NAME, E)                                                                         \
  extern "C" __global__ void __launch_bounds__(kWarps* kLanes, kPairBlocks)                            \
      NAME(const TablePair* pairs, const TableAxis* axes, const TableChunk* chunks, PairPart* parts) { \
    compare<E>(pairs, axes, chunks, parts);                                                            \
  }
OSLER_COMPARE(compare_f32, F32)
OSLER_COMPARE(compare_f64, F64)
OSLER_COMPARE(compare_f16, F16)
OSLER_COMPARE(compare_bf16, BF16)

// One block for each pair: its parts in an order that never changes.
extern "C" __global__ void __launch_bounds__(kWarps* kLanes)
    finish_pairs(const TablePair* pairs, const PairPart* parts, PairPart* results) {
  __shared__ PairPart found[kWarps];
  const TablePair& pair = pairs[blockIdx.x];
  PairPart part = {};
  for (unsigned i = threadIdx.x; i < pair.parts; i += kWarps * kLanes) add(part, parts[pair.first_part + i]);
  part = merged_block(part, found);
  if (threadIdx.x == 0) results[blockIdx.x] = part;
}

DEVICE bool active_at(const TableUnits& job, long long place) {
  const unsigned char* const data = (const unsigned char*)job.data;
  switch (job.type) {
    case kF32:
      return (*(const unsigned*)(data + place * 4) & 0x7FFFFFFFu) > job.threshold;
    case kF64:
      return (*(const Word*)(data + place * 8) & (~(Word)0 >> 1)) > job.threshold;
    default:
      return (*(const unsigned short*)(data + place * 2) & 0x7FFFu) > job.threshold;
  }
}

DEVICE long long place_among(const TableUnits& job, const TableAxis* axes, Word number) {
  long long place = 0;
  for (unsigned k = job.rank; k-- > 0;) {
    const TableAxis& axis = axes[job.axis + k];
    place += (long long)(number % axis.size) * axis.strides[0];
    number /= axis.size;
  }
  return place;
}

// A tile of units over a stretch of their places.
extern "C" __global__ void __launch_bounds__(256) count_units(const TableUnits* jobs, const TableAxis* axes,
                                                              const TableChunk* chunks, unsigned* active) {
  const TableChunk chunk = chunks[blockIdx.x];
  const TableUnits job = jobs[chunk.item];
  const bool beside = job.stride == 1;
  const Word tile = beside ? kUnitsBeside : kUnitsApart;
  const Word places = beside ? kPlacesBeside : kPlacesApart;
  const Word tiles = (job.units + tile - 1) / tile;
  const Word unit = chunk.number % tiles * tile + (beside ? threadIdx.x : threadIdx.x / kLanes);
  const Word begin = chunk.number / tiles * places;
  const Word end = begin + places < job.places ? begin + places : job.places;
  unsigned count = 0;
  if (unit < job.units) {
    const long long first = (long long)unit * job.stride;
    for (Word i = begin + (beside ? 0 : threadIdx.x % kLanes); i < end; i += beside ? 1 : kLanes) {
      count += active_at(job, first + place_among(job, axes, i));
    }
  }
  if (!beside) count = warp_count(count);
  if (unit < job.units && count > 0 && (beside || threadIdx.x % kLanes == 0)) atomicAdd(active + job.first + unit, count);
}
