// Manual pages, made of the command line's own description.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace osler::cli {

/// osler(1): what the program is, its verbs, its exit codes. In the language of troff.
[[nodiscard]] std::string man_page(const Command& program);
/// osler-VERB(1): what one verb does and takes.
[[nodiscard]] std::string man_page(const Command& program, const Command& verb);

}  // namespace osler::cli
