// One version, whoever is asked.
#include "osler/base/version.h"

#include <gtest/gtest.h>

#include <string>

namespace osler {
namespace {

TEST(Version, IsTheSameInHeadersAndLibrary) {
  EXPECT_EQ(version(), kVersion);
}

TEST(Version, SaysItsThreeNumbers) {
  EXPECT_EQ(std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor) + "." + std::to_string(kVersionPatch),
            kVersion);
}

}  // namespace
}  // namespace osler
