// Episodes of a finding are numbered, so that two workers who begin the same one write the same row.
#include "store/history.h"

#include <algorithm>
#include <cmath>

#include "store/fields.h"

namespace osler::store {
namespace {

double time_in(const Series& series, std::int64_t step) {
  for (const Point& point : series.summary().recent()) {
    if (point.step == step && std::isfinite(point.wall_time)) return point.wall_time;
  }
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.last_step >= step) return bucket.first_step >= step ? bucket.first_time : bucket.last_time;
  }
  return kNoTime;
}

}  // namespace

double time_of_step(const Run& run, const std::string& series, std::int64_t step) {
  if (const Series* own = run.find(series); own != nullptr) {
    if (const double time = time_in(*own, step); std::isfinite(time)) return time;
  }
  for (const Series& other : run.all_series()) {
    if (const double time = time_in(other, step); std::isfinite(time)) return time;
  }
  return kNoTime;
}

std::vector<Episode> to_episodes(const Rows& rows) {
  std::vector<Episode> episodes;
  for (const auto& row : rows) {
    episodes.push_back({to_u64(row.at(0)), row.at(1), static_cast<std::uint32_t>(to_u64(row.at(2))), to_f64(row.at(3)),
                        row.at(4), to_f64(row.at(5)), to_i64(row.at(6)), to_f64(row.at(7)), row.at(8),
                        to_f64(row.at(9))});
  }
  return episodes;
}

HistoryChange change_of_history(std::uint64_t run_id, const std::vector<Episode>& before, const Run& run,
                                const Report& report, double now) {
  HistoryChange change;
  for (const Observation& seen : report.findings) {
    const auto open = std::find_if(before.begin(), before.end(), [&](const Episode& episode) {
      return episode.finding == seen.finding && episode.gone == 0;
    });
    Episode episode;
    if (open != before.end()) {
      episode = *open;
    } else {
      episode.run = run_id;
      episode.finding = seen.finding;
      episode.number = static_cast<std::uint32_t>(std::count_if(
          before.begin(), before.end(), [&](const Episode& earlier) { return earlier.finding == seen.finding; }));
      episode.seen = now;
      change.fresh.push_back(seen);
      change.same = false;
    }
    episode.severity = to_string(seen.severity);
    episode.confidence = seen.confidence;
    episode.first_step = seen.first_step;
    episode.began = time_of_step(run, seen.evidence.empty() ? "" : seen.evidence.front().series, seen.first_step);
    episode.summary = seen.summary;
    change.rows.push_back(std::move(episode));
  }
  for (const Episode& episode : before) {
    const bool still = std::any_of(report.findings.begin(), report.findings.end(),
                                   [&](const Observation& seen) { return seen.finding == episode.finding; });
    if (episode.gone != 0 || still) continue;
    change.rows.push_back(episode);
    change.rows.back().gone = now;
    change.same = false;
  }
  return change;
}

}  // namespace osler::store
