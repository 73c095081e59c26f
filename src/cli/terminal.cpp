// What the terminal can show, and how words get to it. The only place that reads the process environment.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cli/hints.h"
#include "report/layout.h"

namespace osler::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

constexpr int kWidthWithoutTerminal = 100;

int terminal_width() {
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  const auto [end, failure] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (failure == std::errc{} && end == columns.data() + columns.size() && width > 0) return width;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kWidthWithoutTerminal;
}

/// The locale's word decides where there is one; without one nearly every terminal of today shows Unicode. The Linux
/// console's font has no Braille.
bool shows_unicode() {
  const std::string_view terminal = environment("TERM");
  if (terminal == "linux" || (terminal == "dumb" && ::isatty(STDOUT_FILENO) != 0)) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(environment(name));
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char sign) { return static_cast<char>(std::tolower(static_cast<unsigned char>(sign))); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t length = ::write(descriptor, text.data(), text.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

}  // namespace

void add_look_options(CLI::App& verb, Look& look) {
  verb.add_flag("--no-colour,--no-color", look.no_colour, "No colours (the NO_COLOR variable does the same)");
  verb.add_flag("--colour,--color", look.colour, "Colours even when the output is not a terminal");
  verb.add_flag("--ascii", look.ascii, "Draw with plain ASCII characters");
}

TextOptions text_options(const Look& look) {
  TextOptions options;
  const bool wanted = ::isatty(STDOUT_FILENO) != 0 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  options.colour = !look.no_colour && (look.colour || wanted);
  options.verbose = look.verbose;
  options.unicode = !look.ascii && shows_unicode();
  options.width = terminal_width();
  // The prompt comes back below the report. More than this is no longer taken in at a glance, however tall the window.
  constexpr int kMostLines = 44;
  if (::isatty(STDOUT_FILENO) != 0) options.lines = std::min(terminal_lines() - 1, kMostLines);
  return options;
}

bool can_show_progress() {
  return ::isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb";
}

bool can_redraw() {
  return ::isatty(STDOUT_FILENO) != 0 && environment("TERM") != "dumb";
}

int terminal_lines() {
  constexpr int kLinesOfOld = 24;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kLinesOfOld;
}

std::string state_folder() {
  // The standard asks for relative paths to be ignored.
  if (const std::string_view folder = environment("XDG_STATE_HOME"); folder.starts_with('/'))
    return std::string(folder);
  const std::string_view home = environment("HOME");
  return home.empty() ? "" : std::string(home) + "/.local/state";
}

std::string store_password_from_environment() {
  return std::string(environment("OSLER_STORE_PASSWORD"));
}

std::string store_token_from_environment() {
  return std::string(environment("OSLER_STORE_TOKEN"));
}

std::string store_from_environment() {
  return std::string(environment("OSLER_STORE"));
}

std::string token_from_environment() {
  return std::string(environment("OSLER_TOKEN"));
}

bool print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text) || errno == EPIPE) return true;
  complain(std::string("cannot write the result: ") + std::strerror(errno));
  return false;
}

void complain(std::string_view message) {
  // In one write, so that lines of several processes do not mix. A failure to complain has nowhere to go.
  print_error("osler: " + layout::clean(message, shows_unicode()) + "\n");
}

void complain(const Error& error) {
  complain(describe_with_options(error));
}

void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

}  // namespace osler::cli
