// Makes many runs with several processes; what is complete is never made again.
#pragma once

#include <cstdint>
#include <filesystem>

namespace osler::population {

/// What is asked for.
struct Request {
  std::uint64_t seed = 1;
  long runs = 100;
  long first = 0;
  long jobs = 1;
  std::filesystem::path out = "build/population";
  double seconds = 0;  ///< Stop after so long; 0 for never.
};

/// Trains what is missing, tells its progress, and writes meta.jsonl. Returns whether all runs are there.
bool make_population(const Request& order);
/// Gathers the meta lines of all complete runs into meta.jsonl; returns how many.
long gather_meta(const std::filesystem::path& out);

}  // namespace osler::population
