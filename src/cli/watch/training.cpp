// Starting a training: two pipes, or a terminal of its own where Osler has one.
#include "cli/watch/training.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace osler::cli {
namespace {

// The longest line that is kept together; longer ones are handed over in pieces.
constexpr std::size_t kLongestLine = std::size_t{1} << 16U;
// What it left running may hold its output open: after its own end, so long is waited for more.
constexpr int kLastWords = 200;  // milliseconds

std::atomic<pid_t> signalled{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void pass_on(int number) {
  const int saved = errno;
  if (const pid_t training = signalled.load(); training > 0) ::kill(-training, number);
  errno = saved;
}

/// A descriptor that is closed with its owner.
class Owned {
 public:
  Owned() = default;
  explicit Owned(int number) : number_(number) {}
  ~Owned() { close(); }
  Owned(Owned&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_ = -1;
};

/// One stream of the training: where it is read, and where it is passed on to.
struct Channel {
  Owned from;
  int to = -1;
  std::string waiting;  // the beginning of a line whose end has not come
};

/// Both ends of a way from the training to here.
struct Ways {
  Owned ours;
  Owned theirs;
};

Result<Ways> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::io, std::strerror(errno), "pipe"};
  return Ways{Owned(ends[0]), Owned(ends[1])};
}

/// A terminal as large as ours that passes on what is written as it is.
Result<Ways> make_terminal() {
  winsize size{};
  ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  int ours = -1;
  int theirs = -1;
  if (::openpty(&ours, &theirs, nullptr, nullptr, &size) != 0) {
    return Error{ErrorCode::io, std::strerror(errno), "terminal"};
  }
  termios look{};
  if (::tcgetattr(theirs, &look) == 0) {
    look.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(theirs, TCSANOW, &look);
  }
  ::fcntl(ours, F_SETFD, FD_CLOEXEC);
  ::fcntl(theirs, F_SETFD, FD_CLOEXEC);
  return Ways{Owned(ours), Owned(theirs)};
}

/// Passes on all of it; what nobody takes any more is dropped.
void pass_through(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t length = ::write(to, bytes.data(), bytes.size());
    if (length < 0 && errno == EAGAIN) {
      pollfd ready{to, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(length));
  }
}

/// The output of a training: passed on as it comes, handed over in whole lines.
class Output final : public ReadableFile {
 public:
  Output(std::vector<Channel> channels, int ended) : channels_(std::move(channels)), ended_(ended) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    while (lines_.empty()) {
      if (!take_more()) break;
    }
    const std::size_t length = std::min(buffer.size(), lines_.size());
    std::memcpy(buffer.data(), lines_.data(), length);
    lines_.erase(0, length);
    return length;
  }
  Result<void> seek(std::uint64_t) override {
    return Error{ErrorCode::unsupported, "a program's output can only be read from front to back", {}};
  }
  [[nodiscard]] Result<FileInfo> info() const override { return FileInfo{.kind = FileKind::pipe}; }

 private:
  /// Waits for output and takes it; false when no more will come.
  bool take_more() {
    std::vector<pollfd> waiting;
    for (const Channel& channel : channels_) waiting.push_back({channel.from.get(), POLLIN, 0});
    waiting.push_back({over_ ? -1 : ended_, POLLIN, 0});
    const bool open =
        std::any_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.from.get() >= 0; });
    if (!open) return finish();
    const int ready = ::poll(waiting.data(), waiting.size(), over_ ? kLastWords : -1);
    if (ready < 0) return errno == EINTR || finish();
    if (ready == 0) return finish();
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      if (waiting[i].revents != 0) take(channels_[i]);
    }
    over_ = over_ || waiting.back().revents != 0;
    return true;
  }

  void take(Channel& channel) {
    std::array<char, 1 << 16> piece;
    const ssize_t length = ::read(channel.from.get(), piece.data(), piece.size());
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (length <= 0) return channel.from.close();  // a terminal gives EIO when its other side is closed
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(length));
    pass_through(channel.to, bytes);
    channel.waiting += bytes;
    const std::size_t end = channel.waiting.find_last_of("\r\n");
    const std::size_t whole = end != std::string::npos                ? end + 1
                              : channel.waiting.size() > kLongestLine ? channel.waiting.size()
                                                                      : 0;
    lines_.append(channel.waiting, 0, whole);
    channel.waiting.erase(0, whole);
  }

  /// Hands over the lines that were never ended; false.
  bool finish() {
    for (Channel& channel : channels_) {
      channel.from.close();
      if (channel.waiting.empty()) continue;
      lines_ += std::exchange(channel.waiting, {}) + "\n";
    }
    return false;
  }

  std::vector<Channel> channels_;
  int ended_;  // readable when the training has ended
  bool over_ = false;
  std::string lines_;
};

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP};

sigset_t passed_on_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kPassedOn) sigaddset(&set, number);
  return set;
}

/// While it lives, signals that are to be passed on wait: before the training is known there is nobody to pass them to.
class SignalsWait {
 public:
  SignalsWait() {
    const sigset_t set = passed_on_set();
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

class StartedTraining final : public Training {
 public:
  StartedTraining(pid_t pid, Process process, Owned ended, std::vector<Channel> channels)
      : pid_(pid), process_(std::move(process)), ended_(std::move(ended)), channels_(std::move(channels)) {
    signalled = pid_;
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (const int number : kPassedOn) ::sigaction(number, &action, nullptr);
  }
  ~StartedTraining() override {
    signalled = 0;
    for (const int number : kPassedOn) std::signal(number, SIG_DFL);
  }

  std::unique_ptr<ReadableFile> output() override {
    return std::make_unique<Output>(std::move(channels_), ended_.get());
  }
  const Process& process() const override { return process_; }
  int wait() override {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) return 0;
    }
    signalled = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
  Process process_;
  Owned ended_;
  std::vector<Channel> channels_;
};

/// Spawns the command with its output going to `out` and `err`; its number, or the error.
Result<pid_t> spawn(const std::vector<std::string>& command, int out, int err, const sigset_t& mask) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // In a session of its own a Ctrl-C reaches it once, through us, and it may still read from the terminal.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  sigset_t defaults = passed_on_set();
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Python keeps what it prints to a pipe back until there is much of it.
  std::vector<std::string> variables = environment_with({{"PYTHONUNBUFFERED", "1"}});
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  pid_t child = -1;
  const int failure =
      ::posix_spawnp(&child, arguments.front(), &actions, &attributes, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failure != 0) {
    return Error{ErrorCode::not_found, std::string("cannot be started: ") + std::strerror(failure), command.front()};
  }
  return child;
}

}  // namespace

Result<std::unique_ptr<Training>> Training::start(const std::vector<std::string>& command) {
  const bool out_terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool shared = out_terminal && ::isatty(STDERR_FILENO) != 0;
  auto out = out_terminal ? make_terminal() : make_pipe();
  if (!out) return out.error();
  auto err = shared ? Result<Ways>(Ways{}) : make_pipe();
  if (!err) return err.error();
  const SignalsWait signals;
  const auto pid = spawn(command, out->theirs.get(), shared ? out->theirs.get() : err->theirs.get(), signals.before());
  if (!pid) return pid.error();
  std::vector<Channel> channels;
  channels.push_back({std::move(out->ours), STDOUT_FILENO, {}});
  if (!shared) channels.push_back({std::move(err->ours), STDERR_FILENO, {}});
  auto process = Process::find(*pid);
  if (!process) return process.error();
  Owned ended(process->duplicate());
  return std::unique_ptr<Training>(
      std::make_unique<StartedTraining>(*pid, std::move(*process), std::move(ended), std::move(channels)));
}

std::string name_of(const std::vector<std::string>& command) {
  const auto base = [](const std::string& word) { return std::filesystem::path(word).filename().string(); };
  constexpr std::array<std::string_view, 3> kScripts = {".py", ".sh", ".ipynb"};
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string ending = std::filesystem::path(command[i]).extension().string();
    if (std::find(kScripts.begin(), kScripts.end(), ending) != kScripts.end()) return base(command[i]);
    if (i > 0 && command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
  }
  return base(command.front());
}

}  // namespace osler::cli
