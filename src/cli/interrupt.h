// Interrupt: the first Ctrl-C stops the reading, the second the program.
#pragma once

#include <stop_token>
#include <thread>

namespace osler::cli {

/// While it lives, the first SIGINT requests a stop and the second ends the program with exit code 130. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// True as soon as the signal came, even before the watcher has turned it into a stop request.
  [[nodiscard]] bool happened() const;
  /// A descriptor that becomes readable with the first Ctrl-C and stays so, for poll().
  [[nodiscard]] int descriptor() const { return signalled_; }

 private:
  std::stop_source source_;
  int signalled_ = -1;  // read end of the pipe that the signal handler writes to; never drained
  int done_[2] = {-1, -1};
  std::jthread watcher_;  // turns the signal into a stop request, which a handler must not make
};

}  // namespace osler::cli
