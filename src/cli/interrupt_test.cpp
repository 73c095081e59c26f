// Ctrl-C: the first stops the reading, the second the program.
#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "cli/stream.h"

namespace osler::cli {
namespace {

TEST(Interrupt, TheFirstSignalRequestsAStop) {
  const Interrupt interrupt;
  EXPECT_FALSE(interrupt.happened());
  std::raise(SIGINT);
  while (!interrupt.token().stop_requested()) std::this_thread::yield();
  EXPECT_TRUE(interrupt.happened());
}

TEST(Interrupt, CanBeUsedAgain) {
  for (int i = 0; i < 3; ++i) {
    const Interrupt interrupt;
    EXPECT_FALSE(interrupt.happened());
    std::raise(SIGINT);
    while (!interrupt.happened()) std::this_thread::yield();
  }
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
}

TEST(Stream, EndsWhenInterruptedWhileItWaits) {
  std::array<int, 2> silent{};
  std::array<int, 2> interrupt{};
  ASSERT_EQ(::pipe(silent.data()), 0);
  ASSERT_EQ(::pipe(interrupt.data()), 0);
  auto stream = open_stream("/dev/fd/" + std::to_string(silent[0]), interrupt[0]);
  ASSERT_TRUE(stream);
  std::array<std::byte, 16> buffer{};
  ASSERT_EQ(::write(silent[1], "abc", 3), 3);
  EXPECT_EQ(*(*stream)->read(buffer), 3u);
  std::thread signal([&] { EXPECT_EQ(::write(interrupt[1], "!", 1), 1); });
  EXPECT_EQ(*(*stream)->read(buffer), 0u) << "nothing was written, but the interrupt ends it";
  signal.join();
  EXPECT_FALSE((*stream)->seek(0));
  for (const int descriptor : {silent[0], silent[1], interrupt[0], interrupt[1]}) ::close(descriptor);
}

TEST(Stream, ThatCannotBeOpenedSaysWhich) {
  const auto stream = open_stream("/no/such/pipe", -1);
  ASSERT_FALSE(stream);
  EXPECT_EQ(describe(stream.error()), "/no/such/pipe: No such file or directory");
}

}  // namespace
}  // namespace osler::cli
