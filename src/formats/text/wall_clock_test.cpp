// Dates in front of lines.
#include "formats/text/wall_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace osler::text {
namespace {

TEST(WallClock, ReadsTheDatesLoggersWrite) {
  EXPECT_NEAR(wall_time_of("2023-01-01 12:00:00,250 - INFO - loss 1"), 1672574400.25, 1e-6);
  EXPECT_EQ(wall_time_of("[2022-04-18 20:16:50] Ep. 2"), 1650313010);
  EXPECT_EQ(wall_time_of("[INFO] 2021-12-25 21:40:46,000 : Epoch"), 1640468446);
  EXPECT_EQ(wall_time_of("[rank0]:[titan] 2024-09-01T12:00:10 step"), 1725192010);
  EXPECT_EQ(wall_time_of("==== Training Loss (Thu Dec 21 09:30:48 2017) ===="), 1513848648);
  EXPECT_EQ(wall_time_of("== Training (Fri Aug  2 12:34:15 2024) =="), 1722602055);
}

TEST(WallClock, DoesNotGuess) {
  for (const char* line : {"loss 0.5", "[11/16 02:58:32] no year", "2023-13-01 12:00:00 x", "2023-01-01 25:00:00 x", "",
                           "12:00:00 step 1", "20230101 120000", "2023-01-01"}) {
    EXPECT_TRUE(std::isnan(wall_time_of(line))) << line;
  }
}

}  // namespace
}  // namespace osler::text
