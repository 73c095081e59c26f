// RowAssembler: turns rows of named numbers (CSV lines, JSON objects, lines of text) into events.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "osler/run/event.h"

namespace osler {

/// One number of a row; absent cells are simply not there.
struct Cell {
  std::uint32_t column = 0;
  double value = 0;
};

/// Finds the step axis and the wall time among the columns of the rows it is given, and emits the rest as events.
class RowAssembler {
 public:
  /// The number of the column called `name`, made on first use.
  std::uint32_t column(std::string_view name);
  /// Emits one row. `wall_time` may be kNoTime, then a time column of the row is used where there is one.
  void row(std::span<const Cell> cells, double wall_time, EventSink& sink);
};

}  // namespace osler
