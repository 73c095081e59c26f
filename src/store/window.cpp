// Steps are cut into equal stretches, and the store says of each what a column of a chart shows.
#include "store/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "store/bytes.h"
#include "store/fields.h"
#include "store/identity.h"
#include "store/reading.h"

namespace osler::store {
namespace {

// Up to here a chart counts each point once at any time. Beyond, what was sent twice weighs twice in a mean until the
// server has merged it: the extremes are right all the same, and the answer comes in time.
constexpr std::uint64_t kMostOnce = 4'000'000;

/// The least of all numbers has no sign of its own in SQL.
std::string in_sql(std::int64_t step) {
  return fmt::format("toInt64({})", std::max(step, std::numeric_limits<std::int64_t>::min() + 1));
}

WindowSpan read_span(Bytes& bytes) {
  WindowSpan span;
  span.first_step = bytes.fixed<std::int64_t>();
  span.last_step = bytes.fixed<std::int64_t>();
  span.first_time = bytes.fixed<double>();
  const auto finite = bytes.fixed<std::uint64_t>();
  span.points = bytes.fixed<std::uint64_t>();
  span.min = bytes.fixed<double>();
  span.max = bytes.fixed<double>();
  span.mean = bytes.fixed<double>();
  span.nonfinite = span.points - finite;
  if (finite == 0) span.min = span.max = span.mean = std::numeric_limits<double>::quiet_NaN();
  return span;
}

}  // namespace

Result<std::vector<WindowSpan>> window_of(Client& client, std::uint64_t run, const std::string& series,
                                          const WindowRequest& request) {
  const auto streams = streams_of(client, run);
  if (!streams) return streams.error();
  std::vector<std::uint64_t> valid;
  for (const StoredStream& stream : *streams) {
    if (!stream.is_void) valid.push_back(stream.id);
  }
  const std::string where =
      fmt::format("run = {} AND series = {} AND stream IN ({}) AND step >= {} AND step <= {}", run, identity({series}),
                  listed(valid), in_sql(request.first_step), in_sql(request.last_step));
  const auto extent = client.rows("SELECT count(), min(step), max(step) FROM points WHERE " + where);
  if (!extent) return extent.error();
  const std::uint64_t count = extent->empty() ? 0 : to_u64(extent->front().at(0));
  if (count == 0) return std::vector<WindowSpan>{};
  const std::int64_t first = to_i64(extent->front().at(1));
  const std::uint64_t steps =
      static_cast<std::uint64_t>(to_i64(extent->front().at(2))) - static_cast<std::uint64_t>(first) + 1;
  const std::uint64_t most = std::max<std::size_t>(request.most_spans, 1);
  const std::uint64_t width = std::max<std::uint64_t>(1, steps / most + (steps % most == 0 ? 0 : 1));
  const auto answer = client.ask(fmt::format(
      "SELECT min(step), max(step), argMin(time, step), toUInt64(sum(isFinite(value))), count(), minIf(value, "
      "isFinite(value)), maxIf(value, isFinite(value)), avgIf(value, isFinite(value)) FROM points {} WHERE {} GROUP BY "
      "intDiv(toUInt64(step - {}), {}) AS stretch ORDER BY stretch FORMAT RowBinary",
      count <= kMostOnce ? "FINAL" : "", where, in_sql(first), width));
  if (!answer) return answer.error();
  std::vector<WindowSpan> spans;
  for (Bytes bytes(*answer); !bytes.empty();) {
    spans.push_back(read_span(bytes));
    if (bytes.broken()) return Error{ErrorCode::corrupt, "the store's answer ends in the middle of a row", series};
  }
  return spans;
}

}  // namespace osler::store
