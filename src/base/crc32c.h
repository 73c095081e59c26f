// CRC-32C (Castagnoli), as TFRecord and LevelDB use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace osler {

/// The CRC-32C of `bytes`, continuing from `seed` (the CRC of what came before, 0 at the start).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

/// The rotated and offset form that TFRecord and LevelDB store, so that a CRC of data holding CRCs stays useful.
[[nodiscard]] constexpr std::uint32_t masked_crc32c(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace osler
