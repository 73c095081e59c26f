// Fleet: how all runs of a store are: what is sick now, what it has cost, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/report/render.h"
#include "osler/store/address.h"
#include "osler/store/store.h"

namespace osler {

/// A run with a warning or worse in its newest report.
struct SickRun {
  RunCard card;
  bool running = false;  ///< it has changed a short while ago
  bool critical = false;
  std::string headline;
  std::string cause;                  ///< the most probable one; may be empty
  double probability = 0;             ///< of the cause
  std::vector<std::string> findings;  ///< that are open
  double began =
      kNoTime;       ///< when the illness began, or was seen where the log tells no times; seconds since the Unix epoch
  double seen = 0;   ///< when a worker first saw it
  double hours = 0;  ///< from its beginning to the run's last change
};

/// How often a cause was the most probable one of a sick run.
struct CauseCount {
  std::string cause;
  std::size_t runs = 0;
};

/// The figures of one project, or of all.
struct Fleet {
  std::string project;  ///< empty: all
  std::size_t healthy = 0;
  std::size_t warning = 0;
  std::size_t critical = 0;
  std::size_t insufficient = 0;
  std::size_t unexamined = 0;      ///< there is no report yet
  std::size_t running = 0;         ///< changed a short while ago
  std::vector<SickRun> sick;       ///< those that are running first, then the critical ones
  std::vector<CauseCount> causes;  ///< the most frequent first
  double hours = 0;                ///< of all runs, as far as their logs tell times
  double hours_after_illness = 0;  ///< of critical runs, from where the illness began
  std::optional<double>
      notice_seconds;  ///< median from where an illness began to when it was seen; of those that tell times
};

/// Takes stock. A run is running when its last event, or, where its log tells no times, its last change came within
/// `running_seconds`.
[[nodiscard]] Result<Fleet> look_at_fleet(const StoreAddress& address, const StoreAccess& access, bool all_projects,
                                          double running_seconds = 600);

[[nodiscard]] std::string render_text(const Fleet& fleet, const TextOptions& options = {});
/// The contract "osler-fleet/1", one object.
[[nodiscard]] std::string render_json(const Fleet& fleet);
/// As OpenMetrics, for Prometheus.
[[nodiscard]] std::string render_metrics(const Fleet& fleet);

/// The history of one run's findings as lines of text, the oldest first.
[[nodiscard]] Result<std::string> render_history(const StoreAddress& address, const StoreAccess& access,
                                                 const RunCard& card, const TextOptions& options = {});

}  // namespace osler
