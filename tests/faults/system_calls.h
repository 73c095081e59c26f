// System calls that fail on command. The test program defines the calls itself, and they take precedence over those of
// the C library, also for SQLite and the C++ library. Reading and the standard streams are left alone.
#pragma once

#include <cstdint>

namespace osler::faults {

/// What happens to a call.
enum class Fault {
  none,         ///< calls are only counted
  no_space,     ///< fails with ENOSPC; a write fails after half of its bytes
  io_error,     ///< fails with EIO
  short_write,  ///< a write takes half of its bytes, which is no error; other calls are left alone
  killed,       ///< the process is killed; in a write after half of its bytes
};

/// Which calls are struck.
struct Plan {
  Fault fault = Fault::none;
  std::int64_t at = 0;  ///< the number of the call, from 0 on
  bool on = false;      ///< and all that come after it
};

/// What has happened since the faults were armed. In memory that is shared with the parent process.
struct Tally {
  std::int64_t calls = 0;
  std::int64_t struck = 0;
  const char* call = "";  ///< the name of the last call that was struck; the same address in parent and child
};

/// From now on the calls of this process go by the plan.
void arm(const Plan& plan, Tally& tally);

}  // namespace osler::faults
