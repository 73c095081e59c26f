// What the terminal can show, and how words get to it. The only place that reads the process environment.
#pragma once

#include <string>
#include <string_view>

#include "osler/base/error.h"
#include "osler/report/render.h"

namespace CLI {
class App;
}

namespace osler::cli {

/// What the user wishes about looks; everything else is found out.
struct Look {
  bool colour = false;     ///< --colour: even when the output is no terminal
  bool no_colour = false;  ///< --no-colour
  bool ascii = false;      ///< --ascii
  bool verbose = false;
};

/// Adds --colour, --no-colour and --ascii to a verb.
void add_look_options(CLI::App& verb, Look& look);

/// How text is laid out on standard output: width from COLUMNS or the terminal, colour only on a terminal and never
/// against NO_COLOR, Unicode unless the locale or the terminal says otherwise.
[[nodiscard]] TextOptions text_options(const Look& look);

/// Whether standard error is a terminal on which progress may be drawn.
[[nodiscard]] bool can_show_progress();

/// Whether standard output is a terminal that can be drawn over.
[[nodiscard]] bool can_redraw();
/// The lines of that terminal.
[[nodiscard]] int terminal_lines();

/// OSLER_TOKEN: what clients of the server must show; empty when it is not set.
[[nodiscard]] std::string token_from_environment();

/// OSLER_STORE_PASSWORD and OSLER_STORE_TOKEN: what opens a store; empty when not set.
[[nodiscard]] std::string store_password_from_environment();
[[nodiscard]] std::string store_token_from_environment();
/// OSLER_STORE: the address of the store that is meant where none is named; empty when not set.
[[nodiscard]] std::string store_from_environment();

/// The folder for what a program remembers between two calls, XDG_STATE_HOME or ~/.local/state; empty when neither is
/// known.
[[nodiscard]] std::string state_folder();

/// Writes to standard output. A reader that went away counts as success; any other failure goes to standard error.
[[nodiscard]] bool print(std::string_view text);

/// One line on standard error, "osler: ...", made safe to show.
void complain(std::string_view message);
/// The same about a failure, with the options that help against it.
void complain(const Error& error);

/// Text on standard error as it is, for progress.
void print_error(std::string_view text);

}  // namespace osler::cli
