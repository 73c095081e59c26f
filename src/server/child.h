// Child: a process whose lines are read, that is asked to stop by the end of its input, and ended when it does not.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "osler/base/result.h"

namespace osler::server {

/// One process, from its start to its end.
class Child {
 public:
  /// How a process ended.
  struct End {
    bool well = false;    ///< with exit code 0
    bool forced = false;  ///< it did not heed the end of its input
    std::string text;     ///< "exit code 2", "signal 9"
  };

  /// Starts `program` with no other file of ours open. Standard output and error are read together.
  [[nodiscard]] static Result<Child> start(const std::filesystem::path& program,
                                           const std::vector<std::string>& arguments);
  /// Ends the process at once if it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  /// Gives each line to `on_line` until the process has ended. When `must_stop` says so its input is closed, and
  /// `grace` later the process is ended. `on_look` is called now and then.
  [[nodiscard]] End follow(const std::function<void(const std::string&)>& on_line,
                           const std::function<bool()>& must_stop, const std::function<void()>& on_look,
                           std::chrono::milliseconds grace);

 private:
  Child(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}

  void close_input();
  void read_some(const std::function<void(const std::string&)>& on_line);

  pid_t pid_;
  int input_;   // what it reads from; -1 once closed
  int output_;  // what it writes to; -1 at its end
  std::string line_;
};

}  // namespace osler::server
