// CRC-32 on ISA-L, which folds with carry-less multiplications.
#include "base/crc32.h"

#include <isa-l/crc.h>

namespace osler {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed) {
  return crc32_gzip_refl(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace osler
