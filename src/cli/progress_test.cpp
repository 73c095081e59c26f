// How far reading has come, in words.
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace osler::cli {
namespace {

TEST(ProgressText, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_text({512'000'000, 1'000'000'000, 3'000'000}, 2.0),
            " 51 %  512 MB of 1.0 GB  3,000,000 events  1,500,000/s");
  EXPECT_EQ(progress_text({2'000, 0, 10}, 0), "2.0 kB  10 events") << "a pipe has no total";
}

}  // namespace
}  // namespace osler::cli
