// How a printed log ends.
#pragma once

#include <cstdint>
#include <filesystem>

#include "osler/base/file_system.h"

namespace osler {

/// Whether the last lines of a program's output tell that it crashed or was ended, and no values came after that.
[[nodiscard]] bool ends_in_a_crash(FileSystem& files, const std::filesystem::path& path, std::uint64_t size_bytes);

}  // namespace osler
