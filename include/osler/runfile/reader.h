// RunFileReader: any stretch of any series of a run file, in milliseconds, while it is being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/damage.h"
#include "osler/base/result.h"
#include "osler/run/event.h"
#include "osler/run/layer_info.h"
#include "osler/run/run.h"

namespace osler {

/// The ending of a run file's name.
inline constexpr std::string_view kRunFileExtension = ".osler";
/// The id that stands for run files where formats are named.
inline constexpr std::string_view kRunFileFormat = "osler";
/// How many of a file's first bytes `is_run_file` wants to see.
inline constexpr std::size_t kRunFileHeadBytes = 100;

/// Whether a file that begins with `head` is a run file.
[[nodiscard]] bool is_run_file(std::string_view head);

/// A stretch of a series: one point, or many drawn together.
struct WindowSpan {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  double first_time = kNoTime;  ///< wall time of its beginning, in seconds since the Unix epoch
  double min = 0;               ///< of the finite values; NaN when there is none
  double max = 0;
  double mean = 0;
  std::uint64_t points = 0;     ///< all of them, finite or not
  std::uint64_t nonfinite = 0;  ///< of them NaN or infinite
};

/// What to show of a series.
struct WindowRequest {
  std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
  std::size_t most_spans = 2000;  ///< at least 1; a window with fewer points comes exact, one span for each
};

/// A series as the file knows it.
struct SeriesInfo {
  std::string name;
  std::uint64_t points = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

/// A stored report.
struct StoredReport {
  std::int64_t step = 0;
  double wall_time = kNoTime;
  std::string json;
};

/// Reads a run file. It sees the file as of the last `refresh`, whatever is written meanwhile. What is damaged is left
/// out and told in `damage`; what is returned is what was recorded. One thread at a time; make one for each.
class RunFileReader {
 public:
  /// Opens a run file. A file too damaged for SQLite is searched page by page for what is sound. Fails when it is no
  /// run file, when nothing of it is left, or when it comes from a newer Osler.
  static Result<RunFileReader> open(const std::filesystem::path& path);

  RunFileReader(RunFileReader&&) noexcept;
  RunFileReader& operator=(RunFileReader&&) noexcept;
  ~RunFileReader();

  /// Sees what was committed since; returns whether that is anything. A reader that stays open should call it now and
  /// then: the writer's log cannot shrink below what its readers still look at.
  Result<bool> refresh();

  [[nodiscard]] const std::string& name() const;
  /// The series that have points, in the order they were first recorded.
  [[nodiscard]] Result<std::vector<SeriesInfo>> series();
  /// A window of a series in at most `most_spans` spans, rising in step: minimum and maximum are exact, so no spike is
  /// lost, and every non-finite value is counted. Where training went back, the later segment wins.
  [[nodiscard]] Result<std::vector<WindowSpan>> window(std::string_view series, const WindowRequest& request = {});
  /// The histograms of a series within steps, at most `most` spread evenly over them.
  [[nodiscard]] Result<std::vector<Histogram>> histograms(std::string_view series, const WindowRequest& request = {});
  /// The series that have histograms.
  [[nodiscard]] Result<std::vector<std::string>> histogram_names();
  [[nodiscard]] Result<std::vector<Mark>> marks();
  /// Key and value in the order of the keys.
  [[nodiscard]] Result<std::map<std::string, std::string, std::less<>>> configuration();
  [[nodiscard]] Result<std::vector<LayerInfo>> layers();
  [[nodiscard]] Result<std::vector<StoredReport>> reports();

  /// Tells the whole file to `sink`: configuration, marks, then each segment step by step (some hundred series at a
  /// time), histograms last.
  Result<void> read_events(EventSink& sink);

  /// Tells what was committed since the last call, the first time everything: like `refresh` and then `read_events`,
  /// without what was told before. Returns whether there was anything. To follow a run while it is recorded.
  Result<bool> read_new(EventSink& sink);

  /// What was found damaged so far. Reading more may find more; `read_events` looks at everything.
  [[nodiscard]] const DamageReport& damage() const;

 private:
  class Work;
  explicit RunFileReader(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

/// Reads a run file into a run in bounded memory.
[[nodiscard]] Result<Run> read_run_file(const std::filesystem::path& path, const RunLimits& limits = {});

}  // namespace osler
