// One run of the population: drawn, trained, judged, told.
#pragma once

#include <cstdint>
#include <string>

namespace osler::population {

/// What one run leaves behind.
struct Specimen {
  std::string id;
  std::string file;  ///< The name of its log.
  std::string log;
  std::string meta;  ///< One line of JSON.
};

/// The id of a run.
std::string specimen_id(std::uint64_t seed, long index);
/// Draws and trains a run; the same seed and index give the same run.
Specimen make_specimen(std::uint64_t seed, long index);

}  // namespace osler::population
