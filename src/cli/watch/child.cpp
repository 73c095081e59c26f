// posix_spawn for commands, pidfds for the process being watched.
#include "cli/watch/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it undeclared

namespace osler::cli {
namespace {

constexpr std::chrono::seconds kCommandLimit{60};
constexpr std::chrono::milliseconds kLook{20};

Error system_error(std::string what) {
  return {ErrorCode::io, std::move(what) + ": " + std::strerror(errno), {}};
}

/// A file without a name that holds `text`, to be read from its beginning.
int file_of(const std::string& text) {
  const int file = ::memfd_create("osler-alert", MFD_CLOEXEC);
  if (file < 0) return -1;
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t length = ::write(file, text.data() + written, text.size() - written);
    if (length <= 0) break;
    written += static_cast<std::size_t>(length);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

Result<void> wait_for(pid_t child) {
  const auto end = std::chrono::steady_clock::now() + kCommandLimit;
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return system_error("cannot wait for the command");
    if (ended == child) break;
    if (std::chrono::steady_clock::now() > end) {
      return Error{ErrorCode::io, fmt::format("still runs after {} s; it is left running", kCommandLimit.count()), {}};
    }
    std::this_thread::sleep_for(kLook);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{ErrorCode::io,
               WIFEXITED(status) ? fmt::format("ended with exit code {}", WEXITSTATUS(status))
                                 : fmt::format("was ended by signal {}", WTERMSIG(status)),
               {}};
}

}  // namespace

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (variables.count(text.substr(0, text.find('='))) == 0) entries.push_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value.substr(0, value.find('\0')));
  return entries;
}

Result<void> run_command(const std::string& command, const std::map<std::string, std::string>& variables,
                         const std::string& input) {
  const int standard_input = file_of(input);
  if (standard_input < 0) return system_error("cannot pass the alert to the command");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, standard_input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // A Ctrl-C at the terminal is for Osler, not for a message that is on its way.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);

  std::vector<std::string> environment = environment_with(variables);
  std::vector<char*> entries;
  for (std::string& entry : environment) entries.push_back(entry.data());
  entries.push_back(nullptr);
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string text = command;
  const std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
  pid_t child = -1;
  errno = ::posix_spawn(&child, shell.c_str(), &actions, &attributes, arguments.data(), entries.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(standard_input);
  if (errno != 0) return system_error("cannot start the command");
  return wait_for(child);
}

Result<Process> Process::find(int pid) {
  const auto wrong = [&](const char* why) {
    return Error{ErrorCode::invalid_argument, why, "process " + std::to_string(pid)};
  };
  if (pid <= 1) return wrong("not a process that Osler will end");
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return wrong(errno == ESRCH ? "there is no such process" : std::strerror(errno));
  Process process(pid, descriptor);
  if (::syscall(SYS_pidfd_send_signal, descriptor, 0, nullptr, 0) != 0 && errno == EPERM) {
    return wrong("belongs to another user");
  }
  return process;
}

Process::~Process() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Process::Process(Process&& other) noexcept : pid_(other.pid_), descriptor_(std::exchange(other.descriptor_, -1)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Process::alive() const {
  pollfd ended{descriptor_, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

int Process::duplicate() const {
  return ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

Result<void> Process::terminate() const {
  if (::syscall(SYS_pidfd_send_signal, descriptor_, SIGTERM, nullptr, 0) == 0) return {};
  return system_error("cannot end process " + std::to_string(pid_));
}

}  // namespace osler::cli
