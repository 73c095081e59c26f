// Runs the built osler as a user would, and writes the logs it reads.
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace osler::tests {
namespace {

/// A pipe whose ends are closed when it goes.
struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends = {-1, -1};
};

/// What the child needs, prepared before the fork since little may be done after it.
struct Prepared {
  explicit Prepared(const Call& call) : arguments(call.arguments) {
    arguments.insert(arguments.begin(), OSLER_PROGRAM);
    for (std::string& argument : arguments) argument_pointers.push_back(argument.data());
    argument_pointers.push_back(nullptr);
    for (const auto& [name, value] : call.environment) variables.push_back(name + "=" + value);
    for (std::string& variable : variables) variable_pointers.push_back(variable.data());
    variable_pointers.push_back(nullptr);
  }
  std::vector<std::string> arguments;
  std::vector<std::string> variables;
  std::vector<char*> argument_pointers;
  std::vector<char*> variable_pointers;
};

[[noreturn]] void become_program(const Call& call, Prepared& prepared, int input, int output, int error) {
  if (!call.folder.empty() && ::chdir(call.folder.c_str()) != 0) ::_exit(127);
  if (call.file_size_limit > 0) {
    const rlimit limit{call.file_size_limit, call.file_size_limit};
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  // Nobody may have no way to where it lies, as in root's own folder: it is opened before.
  const int program = ::open(OSLER_PROGRAM, O_RDONLY | O_CLOEXEC);
  constexpr uid_t kNobody = 65534;
  if (call.as_nobody && ::getuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(127);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::fexecve(program, prepared.argument_pointers.data(), prepared.variable_pointers.data());
  ::_exit(127);
}

/// Appends what can be read; false at the end.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t length = ::read(descriptor, buffer.data(), buffer.size());
  if (length < 0 && errno == EINTR) return true;
  if (length <= 0) return false;  // a terminal gives EIO when its other side is closed
  text.append(buffer.data(), static_cast<std::size_t>(length));
  return true;
}

/// Waits until the program has taken everything out of its standard input.
void wait_until_read(int read_end) {
  for (int waiting = 1; waiting > 0;) {
    if (::ioctl(read_end, FIONREAD, &waiting) != 0) return;
    if (waiting > 0) ::usleep(1000);
  }
}

/// Feeds the input and collects the output, both at once so that neither side waits for the other.
void converse(const Call& call, pid_t child, Pipe& input, int output, int error, Outcome& outcome) {
  std::string_view rest = call.input ? std::string_view(*call.input) : std::string_view();
  bool reading_out = true;
  bool reading_err = error != output;
  while (reading_out || reading_err || !rest.empty()) {
    std::array<pollfd, 3> waiting = {pollfd{reading_out ? output : -1, POLLIN, 0},
                                     pollfd{reading_err ? error : -1, POLLIN, 0},
                                     pollfd{rest.empty() ? -1 : input.ends[1], POLLOUT, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) break;
    if ((waiting[2].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t length = ::write(input.ends[1], rest.data(), std::min<std::size_t>(rest.size(), 4096));
      rest.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : rest.size());
      if (rest.empty() && call.interrupt_when_read) {
        wait_until_read(input.ends[0]);
        ::kill(child, SIGINT);
      } else if (rest.empty()) {
        input.close(1);
      }
    }
    if (waiting[0].revents != 0) {
      reading_out = drain(output, outcome.out);
      if (call.close_output_early) return;
    }
    if (waiting[1].revents != 0) reading_err = drain(error, outcome.err);
  }
}

void finish(pid_t child, Outcome& outcome) {
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.peak_kilobytes = usage.ru_maxrss;
}

Outcome run_with_pipes(const Call& call) {
  Outcome outcome;
  Prepared prepared(call);
  Pipe input;
  Pipe output;
  Pipe error;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) become_program(call, prepared, call.input ? input.ends[0] : nothing, output.ends[1], error.ends[1]);
  ::close(nothing);
  if (!call.interrupt_when_read) input.close(0);
  output.close(1);
  error.close(1);
  if (!call.input || call.input->empty()) input.close(1);
  converse(call, child, input, output.ends[0], error.ends[0], outcome);
  output.close(0);
  error.close(0);
  finish(child, outcome);
  return outcome;
}

Outcome run_in_terminal(const Call& call) {
  Outcome outcome;
  Prepared prepared(call);
  Pipe input;
  winsize size{.ws_row = 50, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  int primary = -1;
  int secondary = -1;
  if (::openpty(&primary, &secondary, nullptr, nullptr, &size) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) become_program(call, prepared, input.ends[0], secondary, secondary);
  ::close(secondary);
  input.close(0);
  input.close(1);
  converse(call, child, input, primary, primary, outcome);
  ::close(primary);
  finish(child, outcome);
  return outcome;
}

}  // namespace

Outcome run(const Call& call) {
  std::signal(SIGPIPE, SIG_IGN);
  return call.terminal ? run_in_terminal(call) : run_with_pipes(call);
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "osler-program-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& bytes) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return name;
}

std::string csv(int steps, const std::vector<Column>& columns) {
  std::string text = "step";
  for (const Column& column : columns) text += "," + column.name;
  text += '\n';
  for (int step = 0; step < steps; ++step) {
    text += std::to_string(step);
    for (const Column& column : columns) {
      std::array<char, 40> number;
      std::snprintf(number.data(), number.size(), ",%.6g", column.value(step));
      text += number.data();
    }
    text += '\n';
  }
  return text;
}

double noise(int step, int seed) {
  std::uint64_t bits = (static_cast<std::uint64_t>(step) << 20) ^ static_cast<std::uint64_t>(seed);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;  // splitmix64
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1;
}

namespace {

constexpr int kSteps = 400;

double descent(int step) {
  return 0.3 + 2.0 * std::pow(step + 1.0, -0.5);
}

}  // namespace

std::string healthy_csv() {
  return csv(kSteps, {{"train/loss", [](int step) { return descent(step) * (1 + 0.03 * noise(step, 1)); }},
                      {"val/loss", [](int step) { return 1.03 * descent(step) * (1 + 0.01 * noise(step, 2)); }}});
}

std::string nan_csv() {
  return csv(kSteps, {{"train/loss", [](int step) {
                         return step < 250 ? descent(step) * (1 + 0.03 * noise(step, 3)) : std::nan("");
                       }}});
}

std::string overfitting_csv() {
  return csv(kSteps,
             {{"train/loss", [](int step) { return 2.2 * std::exp(-step / 60.0) + 0.01 * (2 + noise(step, 4)); }},
              {"val/loss", [](int step) {
                 const double rise = 0.004 * std::max(0, step - 100);
                 return 0.9 + 1.3 * std::exp(-step / 40.0) + rise + 0.01 * noise(step, 5);
               }}});
}

}  // namespace osler::tests
