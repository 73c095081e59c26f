// WandbRecords: what the records of a .wandb file tell, turned into events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/json/walk.h"
#include "formats/rows.h"
#include "osler/base/damage.h"
#include "osler/run/event.h"

namespace osler {

/// Decodes records one after another. History becomes rows, what the machine did becomes series below "system/",
/// configuration becomes configuration, the exit code a mark; console output, media and the summary (which repeats the
/// history) are left out.
class WandbRecords {
 public:
  /// Takes one record. A malformed one is reported and left out.
  void record(std::string_view record, std::uint64_t offset, EventSink& sink, DamageReport& damage);
  /// No more records come.
  void finish(EventSink& sink) { rows_.finish(sink); }

 private:
  void history(std::string_view message, EventSink& sink);
  void statistics(std::string_view message, EventSink& sink);
  void value(const std::string& name, std::string_view json);
  void cell(const std::string& name, double value);
  /// Whether the row that is being read has a value under `name`.
  [[nodiscard]] bool has_cell(const std::string& name);
  static void config(std::string_view message, EventSink& sink);
  void run(std::string_view message, EventSink& sink);
  void exit(std::string_view message, EventSink& sink) const;

  RowAssembler rows_;
  JsonWalker walker_;
  std::vector<Cell> cells_;
  std::uint64_t row_ = 0;              // the one that is being read, counted from 1
  std::vector<std::uint64_t> in_row_;  // by column: the newest row with a value in it
  bool steps_told_ = false;            // by Osler, which wrote the file
  std::int64_t last_step_ = 0;
  std::unordered_map<std::string, std::int64_t> measured_;  // the step at which each statistic was told last
};

}  // namespace osler
