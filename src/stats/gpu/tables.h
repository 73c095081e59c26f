// What the host and the kernels hand to each other; read by the C++ compiler and, as text, by the device's.
#pragma once

namespace osler::stats::gpu {

using Word = unsigned long long;  ///< 64 bits on both sides

/// A warp measures a stretch of so many bytes at a time, a block of threads a chunk of eight of them.
constexpr unsigned kWarps = 8;
constexpr unsigned kStretchBytes = 16384;
constexpr unsigned kLanes = 32;
/// Blocks that a multiprocessor runs at once, about: into so many pieces the work is cut.
constexpr unsigned kBlocksAtOnce = 4;
/// The index of the first NaN or infinity where there is none.
constexpr Word kNone = ~Word{0};
/// Signs times exponents, as in LogHistogram: the positive ones first.
constexpr unsigned kBins = 512;

/// How the elements of a tensor lie, and what is asked of them beyond the usual.
constexpr unsigned kDense = 1;     ///< the ordinal of an element is its place in memory
constexpr unsigned kInOrder = 2;   ///< and its row-major index
constexpr unsigned kAligned = 4;   ///< to 16 bytes
constexpr unsigned kSketched = 8;  ///< what is followed is remembered as one number for each lane of each stretch
constexpr unsigned kCopied = 16;   ///< or as a copy
constexpr unsigned kCounted = 32;  ///< a histogram is wanted

/// The element types, as the kernels number them.
constexpr unsigned kF32 = 0;
constexpr unsigned kF64 = 1;
constexpr unsigned kF16 = 2;
constexpr unsigned kBF16 = 3;

/// One dimension of a walk in the order of memory, outermost first.
struct TableAxis {
  Word size;
  long long strides[2];  ///< in elements, for each of up to two tensors
  Word index_step;       ///< what one step adds to the row-major index
};

/// A tensor to be summarized.
struct TableTensor {
  Word data;    ///< its address
  Word count;   ///< of its elements
  Word memory;  ///< the address of what is followed, or 0
  double near;  ///< thresholds in terms of the element type
  double low;
  double high;
  unsigned flags;
  unsigned axis;  ///< the first of its axes
  unsigned rank;
  unsigned first_part;
  unsigned parts;
  unsigned histogram;  ///< its number among the histograms
};

/// Two tensors to be compared.
struct TablePair {
  Word a;
  Word b;
  Word count;
  double relative;  ///< half the spacing of a's type in the octave of 1
  double smallest;  ///< and the smallest there is
  unsigned flags;
  unsigned a_type;
  unsigned b_type;
  unsigned axis;
  unsigned rank;
  unsigned first_part;
  unsigned parts;
  unsigned unused;
};

/// A tensor whose active units are to be counted.
struct TableUnits {
  Word data;
  Word units;
  Word places;
  Word threshold;    ///< bits of a magnitude
  long long stride;  ///< from unit to unit
  unsigned type;
  unsigned axis;
  unsigned rank;
  unsigned first;  ///< its place among the counts
};

/// What a block of threads works on: `count` chunks of an item of one of the tables, one after the other.
struct TableChunk {
  unsigned item;
  unsigned number;  ///< the first of them
  unsigned count;
  unsigned part;  ///< where the answer goes
};
/// The most chunks that a block takes: 2 MB, more does not pay.
constexpr unsigned kMostChunks = 16;

/// The statistics of a part of a tensor, or of all of it.
struct SummaryPart {
  Word finite;
  Word nan;
  Word inf;
  Word first_nan;
  Word first_inf;
  Word zeros;
  Word near;
  Word low;
  Word high;
  double mean;
  double m2;
  double l1;
  double min;
  double max;
  double smallest;
  double moved;
};

struct PairPart {
  Word finite;
  Word nonzero;
  Word below;
  double dot;
  double aa;
  double bb;
  double dd;
};

/// Units beside each other in memory are counted by a thread each, others by a warp each, over so many places.
constexpr unsigned kUnitsBeside = 256;
constexpr unsigned kPlacesBeside = 256;
constexpr unsigned kUnitsApart = 8;
constexpr unsigned kPlacesApart = 8192;

}  // namespace osler::stats::gpu
