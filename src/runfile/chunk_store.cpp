// Series recorded together have equal steps and times; their chunks share one axis.
#include "runfile/chunk_store.h"

#include <fmt/format.h>

namespace osler::runfile {

Result<std::int64_t> ChunkStore::put_axis(RowWriter& rows, const std::string& axis) {
  if (const auto known = newest_axes_.find(axis); known != newest_axes_.end()) return known->second;
  const std::int64_t id = ++last_axis_;
  if (const auto put = rows.put(Table::axis, {id, {axis}}); !put) return put.error();
  if (newest_axes_.size() >= kAxesRemembered) newest_axes_.clear();
  newest_axes_.emplace(axis, id);
  uses_.emplace(id, 0);
  return id;
}

Result<void> ChunkStore::release(Database& database, std::int64_t row) {
  const auto held = axis_of_growing_.find(row);
  if (held == axis_of_growing_.end()) return {};
  const std::int64_t axis = held->second;
  axis_of_growing_.erase(held);
  const auto uses = uses_.find(axis);
  if (uses == uses_.end() || --uses->second > 0) return {};
  uses_.erase(uses);
  std::erase_if(newest_axes_, [axis](const auto& entry) { return entry.second == axis; });
  return database.execute(fmt::format("DELETE FROM axis WHERE id = {}", axis));
}

Result<std::int64_t> ChunkStore::put(Database& database, RowWriter& rows, const ClosedChunk& chunk, bool growing) {
  if (const auto released = release(database, chunk.row); !released) return released.error();
  const auto axis = put_axis(rows, chunk.packed.axis);
  if (!axis) return axis.error();
  const std::int64_t id = chunk.row != 0 ? chunk.row : ++last_chunk_;
  Row row{id,
          {chunk.series, static_cast<std::int64_t>(chunk.level), chunk.segment, chunk.start,
           static_cast<std::int64_t>(chunk.entries), chunk.first_step, chunk.last_step, *axis, chunk.packed.data}};
  if (const auto put = rows.put(Table::chunk, row); !put) return put.error();
  if (!growing) {
    uses_.erase(*axis);  // for good
  } else if (const auto uses = uses_.find(*axis); uses != uses_.end()) {
    ++uses->second;
    axis_of_growing_[id] = *axis;
  }
  return id;
}

void ChunkStore::forget() {
  // Axes that were used before stay in the file, unused at worst.
  newest_axes_.clear();
  axis_of_growing_.clear();
  uses_.clear();
}

}  // namespace osler::runfile
