// Training: a program that Osler starts, shows and watches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/watch/child.h"
#include "osler/base/file_system.h"
#include "osler/base/result.h"

namespace osler::cli {

/// A program started by Osler, in a session of its own. SIGINT, SIGTERM and SIGHUP that come to Osler are passed on to
/// it and to what it started. One at a time.
class Training {
 public:
  /// Starts `command`, which is not empty, as a shell would. On a terminal it is given one of its own, so that it
  /// prints as it would without Osler.
  [[nodiscard]] static Result<std::unique_ptr<Training>> start(const std::vector<std::string>& command);

  virtual ~Training() = default;

  /// What it prints, which is also passed on to Osler's own standard output and error, byte by byte. Reading it gives
  /// whole lines, and must go on until the end: a program whose output nobody reads stands still.
  [[nodiscard]] virtual std::unique_ptr<ReadableFile> output() = 0;
  [[nodiscard]] virtual const Process& process() const = 0;
  /// Waits for its end; its exit code, or 128 and the number of the signal that ended it.
  [[nodiscard]] virtual int wait() = 0;
};

/// What people call a training by its command: the script that an interpreter or a launcher is given, else the program.
[[nodiscard]] std::string name_of(const std::vector<std::string>& command);

}  // namespace osler::cli
