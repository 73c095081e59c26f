// ChunkStore: puts chunks into a run file, equal axes only once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "osler/base/result.h"
#include "runfile/open_series.h"
#include "runfile/rows.h"

namespace osler::runfile {

/// Writes chunks within the caller's transactions. One thread at a time.
class ChunkStore {
 public:
  /// Ids are counted on from these.
  ChunkStore(std::int64_t last_chunk, std::int64_t last_axis) : last_chunk_(last_chunk), last_axis_(last_axis) {}

  /// Writes a chunk, in place of its earlier state where it has a row; returns its row. `growing` says that it will be
  /// written again.
  [[nodiscard]] Result<std::int64_t> put(Database& database, RowWriter& rows, const ClosedChunk& chunk, bool growing);
  /// The transaction was undone: what it wrote is not there.
  void forget();

 private:
  [[nodiscard]] Result<std::int64_t> put_axis(RowWriter& rows, const std::string& axis);
  [[nodiscard]] Result<void> release(Database& database, std::int64_t row);

  static constexpr std::size_t kAxesRemembered = 512;

  std::int64_t last_chunk_;
  std::int64_t last_axis_;
  std::unordered_map<std::string, std::int64_t> newest_axes_;       // bytes to id
  std::unordered_map<std::int64_t, std::int64_t> axis_of_growing_;  // row of a growing chunk to axis
  std::unordered_map<std::int64_t, std::int64_t> uses_;             // of axes that growing chunks alone use
};

}  // namespace osler::runfile
