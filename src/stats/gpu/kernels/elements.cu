// Elements of every type, as the kernels read them, and what a warp does together.
using namespace osler::stats::gpu;

// Blocks of 256 threads that a multiprocessor is to hold at least, which bounds their registers; tried on an H200, where
// fewer and more are slower.
constexpr unsigned kSummaryBlocks = 4;
constexpr unsigned kCountedBlocks = 5;  // of single precision; the others would not have enough
constexpr unsigned kPairBlocks = 3;
// Vectors of 16 bytes that a lane fetches before it looks at the first.
constexpr int kFetch = 4;

#define DEVICE static __device__ __forceinline__

constexpr unsigned kAll = 0xFFFFFFFFu;
DEVICE double endless() { return __hiloint2double(0x7FF00000, 0); }

struct Vector {
  unsigned x, y, z, w;
};

// Streaming: what is read once must not push out what the training keeps in the cache.
DEVICE Vector fetch(const unsigned char* from) {
  Vector v;
  asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}
DEVICE unsigned fetch2(const unsigned char* from) {
  return *(const unsigned short*)from;
}
DEVICE unsigned fetch4(const unsigned char* from) {
  return *(const unsigned*)from;
}

DEVICE float from_f16(unsigned bits) {
  float value;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(bits & 0xFFFFu));
  return value;
}
DEVICE double from_bits(unsigned low, unsigned high) {
  return __hiloint2double((int)high, (int)low);
}

struct F32 {
  typedef float Lane;
  static constexpr int kWidth = 4;  // elements in a vector
  static constexpr int kBytes = 4;
  DEVICE void unpack(const Vector& v, float* x) {
    x[0] = __uint_as_float(v.x), x[1] = __uint_as_float(v.y), x[2] = __uint_as_float(v.z), x[3] = __uint_as_float(v.w);
  }
  DEVICE Vector gather(const unsigned char* from) {
    return {fetch4(from), fetch4(from + 4), fetch4(from + 8), fetch4(from + 12)};
  }
  DEVICE double at(const unsigned char* from) { return __uint_as_float(fetch4(from)); }
};

struct F64 {
  typedef double Lane;
  static constexpr int kWidth = 2;
  static constexpr int kBytes = 8;
  DEVICE void unpack(const Vector& v, double* x) { x[0] = from_bits(v.x, v.y), x[1] = from_bits(v.z, v.w); }
  DEVICE Vector gather(const unsigned char* from) {
    return {fetch4(from), fetch4(from + 4), fetch4(from + 8), fetch4(from + 12)};
  }
  DEVICE double at(const unsigned char* from) { return *(const double*)from; }
};

struct F16 {
  typedef float Lane;
  static constexpr int kWidth = 8;
  static constexpr int kBytes = 2;
  DEVICE void unpack(const Vector& v, float* x) {
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) x[2 * i] = from_f16(words[i]), x[2 * i + 1] = from_f16(words[i] >> 16);
  }
  DEVICE Vector gather(const unsigned char* from) {
    unsigned words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = fetch2(from + 4 * i) | fetch2(from + 4 * i + 2) << 16;
    return {words[0], words[1], words[2], words[3]};
  }
  DEVICE double at(const unsigned char* from) { return from_f16(fetch2(from)); }
};

struct BF16 {
  typedef float Lane;
  static constexpr int kWidth = 8;
  static constexpr int kBytes = 2;
  DEVICE void unpack(const Vector& v, float* x) {
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = __uint_as_float(words[i] << 16), x[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
    }
  }
  DEVICE Vector gather(const unsigned char* from) { return F16::gather(from); }
  DEVICE double at(const unsigned char* from) { return __uint_as_float(fetch2(from) << 16); }
};

DEVICE double element_at(unsigned type, Word data, long long place) {
  const unsigned char* const bytes = (const unsigned char*)data;
  switch (type) {
    case kF32:
      return F32::at(bytes + place * 4);
    case kF64:
      return F64::at(bytes + place * 8);
    case kF16:
      return F16::at(bytes + place * 2);
    default:
      return BF16::at(bytes + place * 2);
  }
}

DEVICE bool finite(double x) { return fabs(x) < endless(); }
DEVICE bool finite(float x) { return fabsf(x) < __uint_as_float(0x7F800000u); }
DEVICE float magnitude(float x) { return fabsf(x); }
DEVICE double magnitude(double x) { return fabs(x); }
DEVICE float smaller(float a, float b) { return fminf(a, b); }
DEVICE double smaller(double a, double b) { return fmin(a, b); }
DEVICE float larger(float a, float b) { return fmaxf(a, b); }
DEVICE double larger(double a, double b) { return fmax(a, b); }
DEVICE Word smaller(Word a, Word b) { return a < b ? a : b; }

// Sums and extremes over a warp: every lane has the result, the same on every run.
template <class T>
DEVICE T warp_sum(T x) {
#pragma unroll
  for (int way = 16; way > 0; way /= 2) x += __shfl_xor_sync(kAll, x, way);
  return x;
}
DEVICE unsigned warp_count(unsigned x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAll, x);
#else
  return warp_sum(x);
#endif
}
template <class T>
DEVICE T warp_min(T x) {
#pragma unroll
  for (int way = 16; way > 0; way /= 2) x = smaller(x, __shfl_xor_sync(kAll, x, way));
  return x;
}
template <class T>
DEVICE T warp_max(T x) {
#pragma unroll
  for (int way = 16; way > 0; way /= 2) x = larger(x, __shfl_xor_sync(kAll, x, way));
  return x;
}

// A histogram in shared memory: octave by octave the counts of positive and of negative values. What is often counted
// together thus lies in different banks, and lanes that count in the same word are added up by the hardware.
constexpr unsigned kOctaves = kBins / 2;

DEVICE unsigned octave(float x) { return __float_as_uint(x) >> 23 & 255; }
DEVICE unsigned octave(double x) {
  const int exponent = (int)((unsigned)__double2hiint(x) >> 20 & 0x7FF) - 1023 + 127;
  return exponent < 0 ? 0 : exponent > 255 ? 255 : (unsigned)exponent;
}
DEVICE unsigned sign_of(float x) { return __float_as_uint(x) >> 31; }
DEVICE unsigned sign_of(double x) { return (unsigned)__double2hiint(x) >> 31; }

// Counts a value that is not zero.
template <class Lane>
DEVICE void count_in(unsigned* bins, Lane x) {
  atomicAdd(bins + (octave(x) * 2 + sign_of(x)), 1u);
}

DEVICE void clear_bins(unsigned* bins) {
  for (unsigned i = threadIdx.x; i < kBins; i += kWarps * kLanes) bins[i] = 0;
}

// Adds the counts of a block to those of its tensor; `last`: the highest octave that holds numbers.
DEVICE void add_bins(const unsigned* bins, Word* histogram, unsigned last) {
  for (unsigned i = threadIdx.x; i < 2 * (last + 1); i += kWarps * kLanes) {
    if (bins[i] > 0) atomicAdd(histogram + (i % 2 * kOctaves + i / 2), (Word)bins[i]);
  }
}
