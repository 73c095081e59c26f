// The machine's clocks.
#include "cli/watch/surroundings.h"

#include <poll.h>

#include <chrono>
#include <ctime>

namespace osler::cli {
namespace {

template <typename Clock>
double seconds_of() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class RealClock final : public WatchClock {
 public:
  [[nodiscard]] double steady() const override { return seconds_of<std::chrono::steady_clock>(); }
  [[nodiscard]] double wall() const override { return seconds_of<std::chrono::system_clock>(); }
  [[nodiscard]] double computing() const override { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  void wait(double seconds, int interrupt) override {
    constexpr double kMilliseconds = 1000;
    pollfd interrupted{interrupt, POLLIN, 0};
    ::poll(&interrupted, 1, static_cast<int>(seconds * kMilliseconds));
  }
};

}  // namespace

WatchClock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace osler::cli
