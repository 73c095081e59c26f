// Packs a population: logs and meta data in few compressed files, and a small sample for the tree.
#pragma once

#include <filesystem>

namespace osler::population {

/// Writes all runs under `out` as compressed JSON lines to `to`, each file at most `megabytes` large.
bool pack_population(const std::filesystem::path& out, const std::filesystem::path& to, double megabytes);
/// Writes a sample of so many runs with short logs, each fault and family in turn, as one compressed file.
bool pack_sample(const std::filesystem::path& out, const std::filesystem::path& to, long runs);

}  // namespace osler::population
