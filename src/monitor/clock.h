// The clock that all times of the monitor are read from.
#pragma once

#include <chrono>

namespace osler::monitor {

/// Seconds since some moment in the past; never goes back.
[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace osler::monitor
