// Exit signals: lets recorders write what waits before a signal ends the process.
#pragma once

#include <functional>

namespace osler::recording {

/// While it lives, `flush` is called when the process gets a signal that would end it; then the handler that was there
/// before has its turn. `flush` runs in a thread of its own, must not take long, and must not wait for the thread that
/// was struck without a limit.
class ExitSignals {
 public:
  explicit ExitSignals(std::function<void()> flush);
  ~ExitSignals();
  ExitSignals(const ExitSignals&) = delete;
  ExitSignals& operator=(const ExitSignals&) = delete;

 private:
  std::function<void()> flush_;
};

}  // namespace osler::recording
