// CRC-32C on ISA-L, which uses the processor's instruction and folds three streams at once.
#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

namespace osler {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  // ISA-L takes a non-const pointer and an int length, and leaves both complements to the caller.
  constexpr std::size_t kLongest = std::numeric_limits<int>::max();
  std::uint32_t crc = ~seed;
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), kLongest);
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(length), crc);
    bytes = bytes.subspan(length);
  }
  return ~crc;
}

}  // namespace osler
