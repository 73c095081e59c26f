// Other processes: running a command for an alert, and ending a training that is beyond hope.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "osler/base/result.h"

namespace osler::cli {

/// Runs a shell command with some variables more in its environment and `input` as its standard input, and waits for
/// it, though not for ever. Its output goes to standard error. Fails when it fails.
[[nodiscard]] Result<void> run_command(const std::string& command, const std::map<std::string, std::string>& variables,
                                       const std::string& input);

/// The environment of this process with some variables more, or other; "NAME=value" each.
[[nodiscard]] std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables);

/// A process that somebody else started, held so that its number cannot come to mean another one.
class Process {
 public:
  /// Fails when there is no such process, or it is not ours to signal.
  [[nodiscard]] static Result<Process> find(int pid);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  [[nodiscard]] bool alive() const;
  /// Asks it to end (SIGTERM).
  [[nodiscard]] Result<void> terminate() const;
  [[nodiscard]] int pid() const { return pid_; }
  /// A descriptor, to be closed by the caller, that becomes readable when the process ends.
  [[nodiscard]] int duplicate() const;

 private:
  Process(int pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}

  int pid_;
  int descriptor_;  // a pidfd
};

}  // namespace osler::cli
