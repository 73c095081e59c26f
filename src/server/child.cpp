// posix_spawn with two pipes.
#include "server/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it undeclared

namespace osler::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 1U << 20U;  // what is beyond is dropped
constexpr int kLookMilliseconds = 100;
constexpr auto kLook = std::chrono::milliseconds(kLookMilliseconds);

Error system_error(const char* what, int number) {
  return {ErrorCode::io, std::string(what) + ": " + std::strerror(number), "playground"};
}

struct Pipe {
  int read = -1;
  int write = -1;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{ends[0], ends[1]};
}

int spawn(pid_t& pid, const std::filesystem::path& program, std::vector<char*>& words, int input, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // Sockets of clients would stay open as long as the process has them.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // A Ctrl-C at the terminal is for the server, which then ends the process itself.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigset_t set;
  sigemptyset(&set);
  ::posix_spawnattr_setsigmask(&attributes, &set);
  sigaddset(&set, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &set);
  const int failure = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return failure;
}

Child::End end_of(int status, bool forced) {
  Child::End end;
  end.forced = forced;
  end.well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  end.text = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                               : "signal " + std::to_string(WTERMSIG(status));
  return end;
}

}  // namespace

Result<Child> Child::start(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const auto input = make_pipe();
  if (!input) return system_error("no pipe", errno);
  const auto output = make_pipe();
  if (!output) {
    const int failure = errno;
    ::close(input->read);
    ::close(input->write);
    return system_error("no pipe", failure);
  }
  std::vector<std::string> texts = {program.filename().string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  const int failure = spawn(pid, program, words, input->read, output->write);
  ::close(input->read);
  ::close(output->write);
  if (failure == 0) return Child(pid, input->write, output->read);
  ::close(input->write);
  ::close(output->read);
  return system_error("the trainer cannot be started", failure);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      line_(std::move(other.line_)) {}

Child::~Child() {
  close_input();
  if (output_ >= 0) ::close(output_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Child::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void Child::read_some(const std::function<void(const std::string&)>& on_line) {
  std::array<char, 1U << 14U> piece{};
  const ssize_t got = ::read(output_, piece.data(), piece.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    ::close(output_);
    output_ = -1;
    if (!line_.empty()) on_line(line_);
    return;
  }
  for (const char c : std::string_view(piece.data(), static_cast<std::size_t>(got))) {
    if (c == '\n') {
      on_line(line_);
      line_.clear();
    } else if (line_.size() < kLongestLine) {
      line_ += c;
    }
  }
}

Child::End Child::follow(const std::function<void(const std::string&)>& on_line, const std::function<bool()>& must_stop,
                         const std::function<void()>& on_look, std::chrono::milliseconds grace) {
  std::optional<Clock::time_point> deadline;
  bool forced = false;
  for (;;) {
    if (output_ >= 0) {
      pollfd output{output_, POLLIN, 0};
      if (::poll(&output, 1, kLookMilliseconds) > 0) read_some(on_line);
    } else {
      std::this_thread::sleep_for(kLook);
    }
    on_look();
    if (!deadline && must_stop()) {
      close_input();
      deadline = Clock::now() + grace;
    }
    if (deadline && !forced && Clock::now() > *deadline) {
      ::kill(pid_, SIGKILL);
      forced = true;
    }
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
    pid_ = -1;
    // What it wrote last may still be in the pipe; one of its own children may hold that open, so this has an end too.
    for (int round = 0; round < 1000 && output_ >= 0; ++round) {
      pollfd output{output_, POLLIN, 0};
      if (::poll(&output, 1, 0) <= 0) break;
      read_some(on_line);
    }
    return end_of(status, forced);
  }
}

}  // namespace osler::server
