// The wall clock, in the unit that events, marks and logs have.
#pragma once

#include <chrono>

namespace osler {

/// Seconds since 1970. It may jump when somebody sets the clock.
[[nodiscard]] inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace osler
