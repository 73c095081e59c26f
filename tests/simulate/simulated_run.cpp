// Turns simulated runs into runs and CSV files.
#include "simulate/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace osler::simulate {
namespace {

/// FNV-1a: mixes the family's name into the seed, so that families do not share their random numbers.
std::uint64_t mix(std::string_view name, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const unsigned char byte : name) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

}  // namespace

Run to_run(const SimulatedRun& run) {
  struct Cursor {
    const Curve* curve;
    SeriesId id;
    std::size_t next;
  };
  Run result;
  result.name = run.family + "-" + std::to_string(run.seed);
  result.format = "simulated";
  std::vector<Cursor> cursors;
  for (const Curve& curve : run.curves) cursors.push_back({&curve, result.series(curve.name), 0});
  // Row by row, as a log is written: a restart (steps that fall) must reach all series at the same place.
  for (bool more = true; more;) {
    more = false;
    std::int64_t lowest = 0;
    for (const Cursor& cursor : cursors) {
      if (cursor.next == cursor.curve->samples.size()) continue;
      const std::int64_t step = cursor.curve->samples[cursor.next].step;
      lowest = more ? std::min(lowest, step) : step;
      more = true;
    }
    for (Cursor& cursor : cursors) {
      if (cursor.next == cursor.curve->samples.size()) continue;
      const Sample& sample = cursor.curve->samples[cursor.next];
      if (sample.step != lowest) continue;
      result.add(Event{cursor.id, sample.step, kNoTime, sample.value});
      ++cursor.next;
    }
  }
  return result;
}

std::string to_csv(const SimulatedRun& run) {
  std::map<std::int64_t, std::vector<std::string>> rows;
  for (std::size_t column = 0; column < run.curves.size(); ++column) {
    for (const Sample& sample : run.curves[column].samples) {
      std::vector<std::string>& row = rows[sample.step];
      row.resize(run.curves.size());
      const bool large_integer = std::abs(sample.value) >= 1e6 && sample.value == std::floor(sample.value);
      row[column] = large_integer && sample.value < 1e15 ? fmt::format("{:.0f}", sample.value)
                                                         : fmt::format("{:.6g}", sample.value);
    }
  }
  std::string text = "step";
  for (const Curve& curve : run.curves) text += "," + curve.name;
  text += "\n";
  for (const auto& [step, cells] : rows) text += fmt::format("{},{}\n", step, fmt::join(cells, ","));
  return text;
}

SimulatedRun draw(const Family& family, std::uint64_t seed) {
  Random random(mix(family.name, seed));
  SimulatedRun run = family.draw(random);
  run.family = family.name;
  run.seed = seed;
  return run;
}

}  // namespace osler::simulate
