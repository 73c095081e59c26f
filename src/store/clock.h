// The time of day, as the tables of a store have it.
#pragma once

#include <chrono>
#include <cstdint>

namespace osler::store {

/// Milliseconds since the Unix epoch.
[[nodiscard]] inline std::uint64_t now_milliseconds() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
}

/// Seconds since the Unix epoch.
[[nodiscard]] inline double now_seconds() {
  return static_cast<double>(now_milliseconds()) / 1000;
}

}  // namespace osler::store
