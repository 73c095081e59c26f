// The version of Osler, said here once: CMake and pip read it from this file.
#pragma once

#include <string_view>

namespace osler {

/// The version these headers belong to.
inline constexpr std::string_view kVersion = "0.2.0";
/// Its three numbers, to be compared while compiling.
inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 2;
inline constexpr int kVersionPatch = 0;

/// The version of the library that was linked. It has to be that of the headers: Osler promises no ABI between
/// versions.
[[nodiscard]] std::string_view version();

}  // namespace osler
