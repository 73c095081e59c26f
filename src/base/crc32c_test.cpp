// CRC-32C against the published vectors (RFC 3720 B.4) and against its definition bit by bit.
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace osler {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// The definition: polynomial 0x1edc6f41 reflected, complemented before and after.
std::uint32_t crc32c_by_definition(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xffU);
  return bytes;
}

TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43U);
  std::vector<std::byte> counting(32);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(counting), 0x46dd794eU);
}

TEST(Crc32c, MatchesTheDefinitionAtEveryShortLengthAndAlignment) {
  const auto bytes = random_bytes(600, 1);
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t length = 0; length + start <= bytes.size(); length += 1 + length / 16) {
      const auto part = std::span(bytes).subspan(start, length);
      ASSERT_EQ(crc32c(part), crc32c_by_definition(part)) << "start " << start << ", length " << length;
    }
  }
}

TEST(Crc32c, ContinuesFromTheCrcOfWhatCameBefore) {
  const auto bytes = random_bytes(1000, 2);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 37) {
    const auto halves = std::span(bytes);
    EXPECT_EQ(crc32c(halves.subspan(cut), crc32c(halves.first(cut))), whole) << "cut at " << cut;
  }
}

TEST(Crc32c, IsMaskedAsTfRecordStoresIt) {
  // How event files begin: the length of the first record (72 bytes) and, after it, the stored CRC fe 92 48 9d.
  std::vector<std::byte> length(8);
  length[0] = std::byte{72};
  EXPECT_EQ(masked_crc32c(crc32c(length)), 0x9d4892feU);
}

}  // namespace
}  // namespace osler
