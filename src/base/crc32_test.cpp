// CRC-32: the check value of the standard, and continuing where one stopped.
#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string_view>

namespace osler {
namespace {

std::uint32_t of(std::string_view text, std::uint32_t seed = 0) {
  return crc32(std::as_bytes(std::span(text)), seed);
}

TEST(Crc32, MatchesTheCheckValue) {
  EXPECT_EQ(of("123456789"), 0xCBF43926U);
  EXPECT_EQ(of(""), 0U);
}

TEST(Crc32, GoesOnFromASeed) {
  EXPECT_EQ(of("56789", of("1234")), of("123456789"));
}

}  // namespace
}  // namespace osler
