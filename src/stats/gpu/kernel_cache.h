// Compiled kernels on disk, so that only the first program on a machine waits for the compiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stats/gpu/compiler.h"

namespace osler::stats::gpu {

/// The file for kernels of this source and compute capability: a change of either is another file.
[[nodiscard]] std::string cache_file(const std::string& folder, std::string_view source, int capability);

/// What a file holds; nothing when it is missing, cut short or damaged.
[[nodiscard]] std::optional<Image> read_cached(const std::string& file);

/// Writes a file, and its folder if need be, so that readers see all of it or nothing. Whether that worked matters to
/// nobody but the next program, which compiles anew.
bool write_cached(const std::string& file, const Image& image);

}  // namespace osler::stats::gpu
