// Packing columns: differences, bytes of equal weight side by side, zstd over each.
#include "runfile/columns.h"

#include <zstd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

namespace osler::runfile {
namespace {

/// How a column of values is coded; the byte that opens it.
enum class Coding : std::uint8_t {
  float_bits = 0,         ///< every value is a 32-bit float: its ordered bits
  float_differences = 1,  ///< the same, as differences
  decimal = 2,            ///< every value is an integer over a power of ten: differences of the integers
  double_differences = 3,
};

constexpr int kLevel = 3;  // zstd's own default: the levels above cost much more than they save on noise
constexpr int kMostDecimals = 9;

Error corrupt(const char* what) {
  return {ErrorCode::corrupt, what, {}};
}

ZSTD_CCtx* compressor() {
  static thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                                         &ZSTD_freeCCtx);
  return context.get();
}

ZSTD_DCtx* decompressor() {
  static thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                                         &ZSTD_freeDCtx);
  return context.get();
}

/// Appends length of the plain bytes, length of the stored ones, and these: compressed where that makes them smaller.
void append_packed(std::string_view plain, std::string& bytes) {
  append_varint(plain.size(), bytes);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(compressor(), packed.data(), packed.size(), plain.data(), plain.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size >= plain.size()) {
    append_varint(plain.size(), bytes);
    bytes += plain;
    return;
  }
  append_varint(size, bytes);
  bytes.append(packed, 0, size);
}

/// Bits in an order in which neighbouring numbers are neighbours, negative ones too.
template <typename Bits>
constexpr Bits ordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
}
template <typename Bits>
constexpr Bits unordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  return (bits & kSign) != 0 ? static_cast<Bits>(bits & ~kSign) : static_cast<Bits>(~bits);
}

template <typename Bits>
constexpr Bits fold_sign(Bits difference) {
  return static_cast<Bits>((difference << 1) ^ (Bits{0} - (difference >> (std::numeric_limits<Bits>::digits - 1))));
}
template <typename Bits>
constexpr Bits unfold_sign(Bits folded) {
  return static_cast<Bits>((folded >> 1) ^ (Bits{0} - (folded & 1)));
}

template <typename Bits>
std::vector<Bits> differences(std::vector<Bits> numbers) {
  Bits before = 0;
  for (Bits& number : numbers) {
    const Bits now = number;
    number = fold_sign(static_cast<Bits>(now - before));
    before = now;
  }
  return numbers;
}

template <typename Bits>
void sum_up(std::vector<Bits>& numbers) {
  Bits sum = 0;
  for (Bits& number : numbers) number = sum = static_cast<Bits>(sum + unfold_sign(number));
}

/// The bytes of equal weight lie together, each lot packed by itself: they are of a kind, the others are not.
template <typename Bits>
void append_planes(const std::vector<Bits>& numbers, std::string& bytes) {
  std::string plane(numbers.size(), '\0');
  for (std::size_t byte = 0; byte < sizeof(Bits); ++byte) {
    for (std::size_t i = 0; i < numbers.size(); ++i) plane[i] = static_cast<char>(numbers[i] >> (8 * byte));
    append_packed(plane, bytes);
  }
}

std::optional<std::vector<std::uint32_t>> as_floats(std::span<const double> values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const double value : values) {
    const auto narrow = static_cast<float>(value);
    if (std::bit_cast<std::uint64_t>(static_cast<double>(narrow)) != std::bit_cast<std::uint64_t>(value)) return {};
    bits.push_back(ordered(std::bit_cast<std::uint32_t>(narrow)));
  }
  return bits;
}

constexpr std::array<double, kMostDecimals + 1> kPowers = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/// The value times a power of ten, if that is an integer from which the value comes back exactly.
std::optional<std::int64_t> scaled(double value, int decimals) {
  constexpr double kLargest = 9e15;  // integers up to here are exact
  const double product = std::nearbyint(value * kPowers[static_cast<std::size_t>(decimals)]);
  if (!(std::abs(product) < kLargest)) return {};
  const double back = product / kPowers[static_cast<std::size_t>(decimals)];
  if (std::bit_cast<std::uint64_t>(back) != std::bit_cast<std::uint64_t>(value)) return {};
  return static_cast<std::int64_t>(product);
}

struct Decimals {
  int decimals = 0;
  std::vector<std::uint64_t> numbers;
};

std::optional<Decimals> as_decimals(std::span<const double> values) {
  Decimals found;
  found.numbers.reserve(values.size());
  for (std::size_t i = 0; i < values.size();) {
    if (const auto integer = scaled(values[i], found.decimals)) {
      found.numbers.push_back(static_cast<std::uint64_t>(*integer));
      ++i;
    } else if (found.decimals < kMostDecimals) {
      ++found.decimals;  // from the start: a power of ten that is too small for one value is too small for all
      found.numbers.clear();
      i = 0;
    } else {
      return {};
    }
  }
  return found;
}

void keep_smaller(std::string candidate, std::string& best) {
  if (best.empty() || candidate.size() < best.size()) best = std::move(candidate);
}

std::string opened(Coding coding) {
  return std::string(1, static_cast<char>(coding));
}

}  // namespace

void append_varint(std::uint64_t number, std::string& bytes) {
  while (number >= 0x80) {
    bytes.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  bytes.push_back(static_cast<char>(number));
}

bool take_varint(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    number |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

void append_integers(std::span<const std::int64_t> numbers, std::string& bytes) {
  // Differences of differences: steps and times run at an even pace, which leaves zeros.
  std::string plain;
  std::uint64_t before = 0;
  std::uint64_t pace = 0;
  for (const std::int64_t number : numbers) {
    const std::uint64_t difference = static_cast<std::uint64_t>(number) - before;
    append_varint(zigzag(static_cast<std::int64_t>(difference - pace)), plain);
    before = static_cast<std::uint64_t>(number);
    pace = difference;
  }
  append_packed(plain, bytes);
}

void append_values(std::span<const double> values, std::string& bytes) {
  std::string best;
  if (const auto floats = as_floats(values)) {
    std::string candidate = opened(Coding::float_differences);
    append_planes(differences(*floats), candidate);
    keep_smaller(std::move(candidate), best);
    candidate = opened(Coding::float_bits);
    append_planes(*floats, candidate);
    keep_smaller(std::move(candidate), best);
  }
  if (auto decimals = as_decimals(values)) {
    std::string candidate = opened(Coding::decimal);
    candidate.push_back(static_cast<char>(decimals->decimals));
    append_planes(differences(std::move(decimals->numbers)), candidate);
    keep_smaller(std::move(candidate), best);
  }
  if (best.empty()) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const double value : values) bits.push_back(ordered(std::bit_cast<std::uint64_t>(value)));
    best = opened(Coding::double_differences);
    append_planes(differences(std::move(bits)), best);
  }
  bytes += best;
}

bool ColumnReader::unpack(std::size_t limit, std::string& bytes) {
  std::uint64_t plain = 0;
  std::uint64_t stored = 0;
  if (!take_varint(rest_, plain) || !take_varint(rest_, stored)) return false;
  if (plain > limit || stored > rest_.size() || stored > plain) return false;
  const std::string_view data = rest_.substr(0, static_cast<std::size_t>(stored));
  rest_.remove_prefix(data.size());
  if (stored == plain) {
    bytes = data;
    return true;
  }
  bytes.resize(static_cast<std::size_t>(plain));
  const std::size_t size = ZSTD_decompressDCtx(decompressor(), bytes.data(), bytes.size(), data.data(), data.size());
  return ZSTD_isError(size) == 0 && size == plain;
}

Result<void> ColumnReader::integers(std::size_t count, std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kLongestVarint = 10;
  numbers.clear();
  if (!unpack(count * kLongestVarint, scratch_)) return corrupt("a column of integers does not unpack");
  std::string_view bytes = scratch_;
  numbers.resize(count);
  std::uint64_t now = 0;
  std::uint64_t pace = 0;
  for (std::int64_t& number : numbers) {
    std::uint64_t folded = 0;
    if (!bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x80) {  // nearly all of them
      folded = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
    } else if (!take_varint(bytes, folded)) {
      return corrupt("a column of integers is short");
    }
    pace += static_cast<std::uint64_t>(unzigzag(folded));
    now += pace;
    number = static_cast<std::int64_t>(now);
  }
  if (!bytes.empty()) return corrupt("a column of integers is long");
  return {};
}

namespace {

template <typename Bits, typename Unpack>
Result<std::vector<Bits>> read_planes(std::size_t count, Unpack&& unpack) {
  std::vector<Bits> numbers(count, 0);
  std::string plane;
  for (std::size_t byte = 0; byte < sizeof(Bits); ++byte) {
    if (!unpack(plane) || plane.size() != count) return corrupt("a column of values does not unpack");
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] |= static_cast<Bits>(static_cast<Bits>(static_cast<unsigned char>(plane[i])) << (8 * byte));
    }
  }
  return numbers;
}

}  // namespace

Result<void> ColumnReader::values(std::size_t count, std::vector<double>& values) {
  values.clear();
  if (rest_.empty()) return corrupt("a column of values is missing");
  const auto coding = static_cast<Coding>(rest_.front());
  rest_.remove_prefix(1);
  const auto plane = [&](std::string& bytes) { return unpack(count, bytes); };
  values.reserve(count);
  if (coding == Coding::float_bits || coding == Coding::float_differences) {
    auto bits = read_planes<std::uint32_t>(count, plane);
    if (!bits) return bits.error();
    if (coding == Coding::float_differences) sum_up(*bits);
    for (const std::uint32_t b : *bits) values.push_back(std::bit_cast<float>(unordered(b)));
    return {};
  }
  double power = 0;
  if (coding == Coding::decimal) {
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) > kMostDecimals) {
      return corrupt("a column of values has too many decimals");
    }
    power = kPowers[static_cast<unsigned char>(rest_.front())];
    rest_.remove_prefix(1);
  } else if (coding != Coding::double_differences) {
    return corrupt("a column of values has an unknown coding");
  }
  auto bits = read_planes<std::uint64_t>(count, plane);
  if (!bits) return bits.error();
  sum_up(*bits);
  for (const std::uint64_t b : *bits) {
    values.push_back(coding == Coding::decimal ? static_cast<double>(static_cast<std::int64_t>(b)) / power
                                               : std::bit_cast<double>(unordered(b)));
  }
  return {};
}

}  // namespace osler::runfile
