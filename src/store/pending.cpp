// One block for each table.
#include "store/pending.h"

#include <array>
#include <utility>

#include "store/clock.h"
#include "store/tables.h"

namespace osler::store {

Pending::Pending()
    : streams_(block_for("streams")),
      series_(block_for("series")),
      config_(block_for("config")),
      marks_(block_for("marks")),
      histograms_(block_for("histograms")),
      points_(block_for("points")),
      progress_(block_for("progress")),
      labels_(block_for("labels")),
      runs_(block_for("runs")) {}

void Pending::stream(std::uint64_t run, const StoredStream& stream) {
  streams_.u64(run).u64(stream.id).text(stream.path).u32(stream.generation).u32(stream.position).u64(stream.inode);
  streams_.text(stream.format).u8(stream.is_void ? 1 : 0).u64(now_milliseconds());
}

void Pending::series(Origin origin, std::uint64_t series, std::string_view name, std::uint32_t position) {
  series_.u64(origin.run).u64(series).u64(origin.stream).text(name).u32(position);
}

void Pending::point(Origin origin, std::uint64_t series, std::uint64_t number, const Event& event) {
  points_.u64(origin.run).u64(series).u64(origin.stream).u64(number);
  points_.i64(event.step).f64(event.wall_time).f64(event.value);
}

void Pending::mark(Origin origin, std::uint64_t number, const Mark& mark) {
  marks_.u64(origin.run).u64(origin.stream).u64(number).i64(mark.step);
  marks_.u8(static_cast<std::uint8_t>(mark.kind)).f64(mark.wall_time).text(mark.text);
}

void Pending::config(Origin origin, std::uint64_t number, std::string_view key, std::string_view value) {
  config_.u64(origin.run).u64(origin.stream).text(key).text(value).u64(number);
}

void Pending::histogram(Origin origin, std::uint64_t series, std::uint64_t number, const Histogram& histogram) {
  histograms_.u64(origin.run).u64(series).u64(origin.stream).u64(number).i64(histogram.step).f64(histogram.wall_time);
  histograms_.f64(histogram.min).f64(histogram.max).f64(histogram.count).f64(histogram.sum);
  histograms_.f64(histogram.sum_squares).list(histogram.limits).list(histogram.counts);
  bulk_ += histogram.limits.size();
}

void Pending::reached(Origin origin, const Reached& reached) {
  progress_.u64(origin.run).u64(origin.stream).u64(reached.number).u64(reached.bytes).u64(reached.fingerprint);
}

void Pending::label(std::uint64_t run, std::string_view label, std::string_view value, std::uint64_t changed) {
  labels_.u64(run).text(label).text(value).u64(changed);
}

void Pending::run(const RunRow& row) {
  runs_.u64(row.run).text(row.project).text(row.name).text(row.machine).text(row.format).u64(row.changed);
  runs_.f64(row.began).f64(row.last_time).u64(row.points).u64(row.events);
}

std::size_t Pending::events() const {
  return points_.rows() + marks_.rows() + config_.rows() + histograms_.rows() + bulk_;
}

std::size_t Pending::points() const {
  return points_.rows();
}

bool Pending::empty() const {
  return events() == 0 && streams_.rows() == 0 && series_.rows() == 0 && progress_.rows() == 0 && runs_.rows() == 0;
}

Result<std::vector<Insert>> Pending::batch() const {
  const std::array<std::pair<std::string_view, const Block*>, 9> parts = {{{"streams", &streams_},
                                                                           {"series", &series_},
                                                                           {"config", &config_},
                                                                           {"marks", &marks_},
                                                                           {"histograms", &histograms_},
                                                                           {"points", &points_},
                                                                           {"progress", &progress_},
                                                                           {"labels", &labels_},
                                                                           {"runs", &runs_}}};
  std::vector<Insert> batch;
  for (const auto& [table, block] : parts) {
    if (block->rows() == 0) continue;
    auto insert = to_insert(table, *block);
    if (!insert) return insert.error();
    batch.push_back(std::move(*insert));
  }
  return batch;
}

void Pending::clear() {
  for (Block* block : {&streams_, &series_, &config_, &marks_, &histograms_, &points_, &progress_, &labels_, &runs_}) {
    block->clear();
  }
  bulk_ = 0;
}

}  // namespace osler::store
