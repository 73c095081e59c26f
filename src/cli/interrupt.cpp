// Interrupt: the first Ctrl-C stops the reading, the second the program.
#include "cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace osler::cli {
namespace {

constexpr int kInterrupted = 130;  // what shells report for a program ended by SIGINT

std::atomic<int> signal_pipe{-1};
std::atomic<int> signal_count{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_interrupt(int) {
  if (signal_count.fetch_add(1) > 0) ::_exit(kInterrupted);
  const int saved = errno;
  const char byte = 0;
  if (::write(signal_pipe.load(), &byte, 1) < 0) ::_exit(kInterrupted);
  errno = saved;
}

/// Returns when one of the descriptors is readable; true when it is the first.
bool wait_for_first(int first, int second) {
  std::array<pollfd, 2> waiting = {pollfd{first, POLLIN, 0}, pollfd{second, POLLIN, 0}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  return (waiting[0].revents & POLLIN) != 0;
}

}  // namespace

Interrupt::Interrupt() {
  int signal_ends[2] = {-1, -1};
  // Without pipes (no descriptors left) Ctrl-C keeps its usual meaning.
  if (::pipe2(signal_ends, O_CLOEXEC) != 0) return;
  signalled_ = signal_ends[0];
  signal_pipe = signal_ends[1];
  signal_count = 0;
  if (::pipe2(done_, O_CLOEXEC) != 0) return;
  watcher_ = std::jthread([this, signalled = signalled_, done = done_[0]] {
    if (wait_for_first(signalled, done)) source_.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

bool Interrupt::happened() const {
  pollfd signalled{signalled_, POLLIN, 0};
  return source_.stop_requested() || ::poll(&signalled, 1, 0) > 0;
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  const char byte = 0;
  if (watcher_.joinable() && ::write(done_[1], &byte, 1) == 1) watcher_.join();
  for (const int descriptor : {signalled_, signal_pipe.load(), done_[0], done_[1]}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  signal_pipe = -1;
}

}  // namespace osler::cli
