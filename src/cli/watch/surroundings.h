// What a watch sees of the world: the time and the files, so that tests can let hours pass in a moment.
#pragma once

#include "osler/base/file_system.h"

namespace osler::cli {

/// The clocks that a watch goes by. One thread at a time.
class WatchClock {
 public:
  virtual ~WatchClock() = default;

  /// Seconds that only ever pass, from some beginning.
  [[nodiscard]] virtual double steady() const = 0;
  /// Seconds since the Unix epoch, as files have them; somebody may set this clock.
  [[nodiscard]] virtual double wall() const = 0;
  /// Seconds that this process has computed.
  [[nodiscard]] virtual double computing() const = 0;
  /// Lets so many seconds pass, or fewer when the descriptor `interrupt` becomes readable; -1 is none.
  virtual void wait(double seconds, int interrupt) = 0;
};

/// The machine's own clocks. Live for the whole program.
[[nodiscard]] WatchClock& real_clock();

/// Where a watch takes place; what it refers to must outlive the watch.
struct Surroundings {
  FileSystem& files = real_file_system();
  WatchClock& clock = real_clock();
};

}  // namespace osler::cli
