// Completions for shells, made of the command line's own description.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace osler::cli {

/// A script that teaches bash to complete `program`; to be sourced.
[[nodiscard]] std::string bash_completion(const Command& program);
/// The same for zsh, as a file of its function path.
[[nodiscard]] std::string zsh_completion(const Command& program);
/// The same for fish.
[[nodiscard]] std::string fish_completion(const Command& program);

}  // namespace osler::cli
