// What a training of the playground may take from the machine, asked where the trainer would be at work.
#include "cli/gallery/play.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace osler::cli {
namespace {

constexpr rlim_t kThreeGigabytes = rlim_t{3} << 30U;

rlimit limit_of(__rlimit_resource resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  return limit;
}

/// Plays with a trainer that ends the process: with exit code 0 when `holds` of the limits it finds.
template <typename Holds>
void play_and_look(const Holds& holds) {
  const std::array<const char*, 3> words = {"play", "--run", "unused.osler"};
  (void)run_play(static_cast<int>(words.size()), words.data(),
                 [&](const gallery::Recipe&, const gallery::TrainingOptions&) -> Result<gallery::TrainingResult> {
                   ::_exit(holds() ? 0 : 1);
                 });
}

TEST(PlayDeathTest, ATrainingIsBoundInMemoryWhereNoSanitizerNeedsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const rlimit before = limit_of(RLIMIT_DATA);
  const rlim_t expected = OSLER_SANITIZED ? before.rlim_cur : std::min(before.rlim_max, kThreeGigabytes);
  EXPECT_EXIT(play_and_look([&] { return limit_of(RLIMIT_DATA).rlim_cur == expected; }), testing::ExitedWithCode(0),
              "");
}

TEST(PlayDeathTest, ATrainingIsBoundInFilesAndTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(play_and_look([] {
                return limit_of(RLIMIT_FSIZE).rlim_cur != RLIM_INFINITY &&
                       limit_of(RLIMIT_CPU).rlim_cur != RLIM_INFINITY;
              }),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace osler::cli
