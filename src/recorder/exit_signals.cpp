// A handler may do next to nothing, so it wakes a thread that does the work and re-raises the signal.
#include "recorder/exit_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace osler::recording {
namespace {

// The first three come from outside and can wait for the writing thread. The others end the thread they hit.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t kSentSignals = 3;
constexpr int kLongestWaitMilliseconds = 3000;
constexpr unsigned char kStop = 0;

struct Shared {
  std::mutex mutex;
  std::vector<const std::function<void()>*> flushes;
  std::array<struct sigaction, kSignals.size()> before{};
  std::array<bool, kSignals.size()> ours{};
  std::thread thread;
};

/// Lives to the very end: a signal may come while the program is being taken down.
Shared& shared() {
  static Shared* const state = new Shared;
  return *state;
}

// What the handler may touch.
std::atomic<int> wake_pipe{-1};
std::atomic<int> done_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free);

std::size_t number_of(int signal) {
  return static_cast<std::size_t>(std::find(kSignals.begin(), kSignals.end(), signal) - kSignals.begin());
}

void handle(int signal) {
  const int error = errno;
  const auto byte = static_cast<unsigned char>(signal);
  const ssize_t written = ::write(wake_pipe, &byte, 1);
  if (number_of(signal) >= kSentSignals) {
    if (written == 1) {
      pollfd done{done_pipe, POLLIN, 0};
      ::poll(&done, 1, kLongestWaitMilliseconds);
    }
    // Put the previous handler back and raise the signal again, so that it gets its turn.
    ::sigaction(signal, &shared().before[number_of(signal)], nullptr);
    ::raise(signal);
  }
  errno = error;
}

void serve(int wake, int done) {
  for (;;) {
    unsigned char byte = kStop;
    const ssize_t got = ::read(wake, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || byte == kStop) return;
    const int signal = byte;
    {
      const std::lock_guard lock(shared().mutex);
      for (const auto* flush : shared().flushes) (*flush)();
    }
    const std::size_t number = number_of(signal);
    if (number >= kSentSignals) {
      static_cast<void>(!::write(done, &byte, 1));  // the handler waits; if this fails it gives up by itself
    } else {
      ::sigaction(signal, &shared().before[number], nullptr);
      ::kill(::getpid(), signal);
    }
  }
}

std::array<int, 4> pipes = {-1, -1, -1, -1};  // guarded by the mutex

void install() {
  if (::pipe2(pipes.data(), O_CLOEXEC) != 0) return;
  if (::pipe2(pipes.data() + 2, O_CLOEXEC) != 0) return;
  wake_pipe = pipes[1];
  done_pipe = pipes[2];
  shared().thread = std::thread(serve, pipes[0], pipes[3]);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    if (::sigaction(kSignals[i], nullptr, &shared().before[i]) != 0) continue;
    if (shared().before[i].sa_handler == SIG_IGN) continue;
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    shared().ours[i] = ::sigaction(kSignals[i], &action, nullptr) == 0;
  }
}

/// Puts back the handlers that are still ours, and returns the thread that is to be joined.
std::thread uninstall() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    if (!std::exchange(shared().ours[i], false) || ::sigaction(kSignals[i], nullptr, &now) != 0) continue;
    if (now.sa_handler == handle) ::sigaction(kSignals[i], &shared().before[i], nullptr);
  }
  const unsigned char byte = kStop;
  static_cast<void>(!::write(pipes[1], &byte, 1));
  return std::move(shared().thread);
}

}  // namespace

ExitSignals::ExitSignals(std::function<void()> flush) : flush_(std::move(flush)) {
  const std::lock_guard lock(shared().mutex);
  shared().flushes.push_back(&flush_);
  if (shared().flushes.size() == 1) install();
}

ExitSignals::~ExitSignals() {
  std::thread thread;
  {
    const std::lock_guard lock(shared().mutex);
    std::erase(shared().flushes, &flush_);
    if (!shared().flushes.empty()) return;
    thread = uninstall();
  }
  if (thread.joinable()) thread.join();
  for (int& pipe : pipes) {
    if (pipe >= 0) ::close(std::exchange(pipe, -1));
  }
}

}  // namespace osler::recording
