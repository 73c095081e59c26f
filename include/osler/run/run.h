// Run: everything known of one training, in bounded memory; the model everyone speaks.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "osler/base/damage.h"
#include "osler/run/event.h"
#include "osler/run/histograms.h"
#include "osler/run/series.h"

namespace osler {

/// How much memory a run may use.
struct RunLimits {
  SummaryLimits per_series;
  /// Buckets over all series; with many series each keeps fewer. 1.5 million buckets are about 200 MB, and while series
  /// are still being added up to twice as many may be kept.
  std::size_t buckets_in_all = 1'500'000;
  std::size_t recent_in_all = 2'000'000;
  std::size_t fewest_buckets = 64;    ///< what a series keeps at least, however many there are
  std::size_t most_series = 100'000;  ///< series beyond this many are left out, and `damage` says so
  HistogramLimits histograms = {};
};

/// First step, last step and number of points of a run's longest series.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint64_t count = 0;
};

/// One training run. Not for several threads at once.
class Run final : public EventSink {
 public:
  Run() = default;
  explicit Run(RunLimits limits) : limits_(limits), histograms_(limits.histograms) {}
  Run(Run&&) = default;
  Run& operator=(Run&&) = default;

  SeriesId series(std::string_view name) override;
  void add(const Event& event) override;
  /// A restart whose wall time is known takes back what every series has from its step on, unless the series has newer
  /// points. A restart without wall time is only kept: where the steps go back, the series see it by themselves.
  void add(Mark mark) override;
  void config(std::string_view key, std::string_view value) override;
  void distribution(const Histogram& histogram) override;
  /// For a log that has ended: where training was launched several times from the first step, and the last launch is
  /// short beside the longest one, goes back to that and notes it in a mark.
  void settle_launches();

  [[nodiscard]] const std::deque<Series>& all_series() const { return series_; }
  /// The series called `name`, or nullptr.
  [[nodiscard]] const Series* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& configuration() const { return config_; }
  /// A thinned set of histograms of each series that has any, in rising order of their steps.
  [[nodiscard]] const std::map<SeriesId, std::vector<Histogram>>& histograms() const { return histograms_.all(); }
  [[nodiscard]] StepRange steps() const;

  std::string name;                  ///< display name: its folder or file
  std::vector<std::string> sources;  ///< the files it was read from
  std::string format;                ///< the id of the format they are in
  DamageReport damage;               ///< what could not be read

 private:
  void spread_restart(const Series& origin);
  void keep(Mark mark);
  [[nodiscard]] bool told_before(const Restart& restart) const;
  void fit_limits();

  static constexpr SeriesId kLeftOut = std::numeric_limits<SeriesId>::max();
  static constexpr std::size_t kMarksKept = 1000;
  static constexpr std::size_t kRestartsSpread = 1000;
  static constexpr std::size_t kConfigKept = 10'000;

  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  RunLimits limits_;
  SummaryLimits current_;  // what each series may keep now
  SummaryLimits fitted_;   // what every series was last shrunk to
  std::deque<Series> series_;
  std::unordered_map<std::string, SeriesId, NameHash, std::equal_to<>> ids_;
  std::vector<Mark> marks_;
  std::map<std::string, std::string, std::less<>> config_;
  std::uint64_t arrivals_ = 0;
  std::uint64_t last_restart_arrival_ = 0;
  std::multiset<std::int64_t> restart_steps_;
  HistogramShelf histograms_;
  bool left_series_out_ = false;
};

}  // namespace osler
