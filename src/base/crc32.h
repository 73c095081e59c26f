// CRC-32 as zlib computes it, as W&B's log uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace osler {

/// The CRC-32 of `bytes`, continuing from `seed` (the CRC of what came before, 0 at the start).
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace osler
