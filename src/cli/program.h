// The command line as a whole: its verbs, its help, its exit codes.
#pragma once

#include <functional>

#include "cli/command_tree.h"
#include "osler/base/registry.h"

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

/// The whole command line as data.
[[nodiscard]] Command program_tree();

/// What `osler watch` gets for each word behind "--": CLI11 would take them for paths.
inline constexpr const char* kCommandOption = "--command-word";

/// The work of the verb that the user chose; returns the exit code.
using Work = std::function<int()>;

/// One verb of the program. One file of src/cli/verbs each, which defines a function named like the file.
struct Verb {
  /// Adds the verb to the program; when the user chooses it, `work` is set.
  void (*add)(CLI::App& program, Work& work);
};

}  // namespace osler::cli

namespace osler {

/// Every verb, sorted by name.
[[nodiscard]] std::span<const Registered<cli::Verb>> verbs();

}  // namespace osler
