// When which finding of a run began, was seen, and went away.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/run/run.h"
#include "store/client.h"

namespace osler::store {

/// A finding of a run, from when it was first seen to when it was gone.
struct Episode {
  std::uint64_t run = 0;
  std::string finding;
  std::uint32_t number = 0;  ///< of this finding's episodes
  double seen = 0;           ///< when a worker first saw it, seconds since the Unix epoch
  std::string severity;
  double confidence = 0;
  std::int64_t first_step = 0;
  double began = kNoTime;  ///< the wall time of that step, where the log tells times
  std::string summary;
  double gone = 0;  ///< when it was first not seen any more; 0: it is still there
};

/// The rows of a query on the columns of kEpisodeColumns.
[[nodiscard]] std::vector<Episode> to_episodes(const Rows& rows);
inline constexpr const char* kEpisodeColumns =
    "run, finding, episode, seen, severity, confidence, first_step, began, summary, gone";

/// What a new report changes in a run's history.
struct HistoryChange {
  std::vector<Episode> rows;       ///< to be written
  std::vector<Observation> fresh;  ///< that begin an episode
  bool same = true;                ///< no finding came, and none went
};
[[nodiscard]] HistoryChange change_of_history(std::uint64_t run_id, const std::vector<Episode>& before, const Run& run,
                                              const Report& report, double now);

/// The wall time at which a run reached a step; kNoTime where its log tells no times.
[[nodiscard]] double time_of_step(const Run& run, const std::string& series, std::int64_t step);

}  // namespace osler::store
