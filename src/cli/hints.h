// Hints: which option of the program does what the error of a library advises.
#pragma once

#include <string>

#include "osler/base/error.h"

namespace osler::cli {

/// One line for a person, with the options that help. Libraries know no options: they say what to do, not what to type.
[[nodiscard]] std::string describe_with_options(const Error& error);

}  // namespace osler::cli
