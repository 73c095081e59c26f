// Checking a program that a learner wrote: its exercise's tests are run on it.
#pragma once

#include <filesystem>

#include "learn/course.h"
#include "osler/base/result.h"

namespace osler::cli {

/// Runs the tests of `exercise` on the learner's `file`, in a temporary folder; what they print goes to standard output
/// and error. Says whether they pass. Python files are run by python3, C++ headers compiled by c++; fails when there is
/// no such program or no such file.
[[nodiscard]] Result<bool> check_program(const learn::Exercise& exercise, const std::filesystem::path& file);

}  // namespace osler::cli
