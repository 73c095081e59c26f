// The command line as a whole: its verbs, its help, its exit codes.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace osler::cli {

/// What the program's exit code says.
inline constexpr int kFine = 0;         ///< nothing at or above the level of --fail-on
inline constexpr int kSick = 1;         ///< something at or above it
inline constexpr int kCannotJudge = 2;  ///< unreadable, no usable series, or a command that makes no sense

/// Runs the program; returns its exit code. No exception leaves it.
[[nodiscard]] int run_program(int count, const char* const* arguments);

/// The work of the verb that the user chose; returns the exit code.
using Work = std::function<int()>;

/// Each verb adds itself to the program and, when chosen, sets `work`.
void add_diagnose(CLI::App& program, Work& work);
void add_explain(CLI::App& program, Work& work);
void add_list(CLI::App& program, Work& work);

}  // namespace osler::cli
