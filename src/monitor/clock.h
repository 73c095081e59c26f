// The clock that all times of the monitor are read from.
#pragma once

#include <chrono>
#include <ctime>

namespace osler::monitor {

/// Seconds since some moment in the past; never goes back.
[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds for which this thread was at work; not while it waited, or others had the processor.
[[nodiscard]] inline double at_work() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace osler::monitor
