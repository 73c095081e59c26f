// Store: the runs of a team in a ClickHouse database: what is there, and any of them read back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/event.h"
#include "osler/run/run.h"
#include "osler/runfile/reader.h"
#include "osler/store/address.h"

namespace osler {

/// The version of the tables that this program reads and writes.
inline constexpr std::uint32_t kStoreSchema = 2;

/// A run of a store, by the number that stands for it.
using StoredRunId = std::uint64_t;

/// What a list of runs shows of one.
struct RunCard {
  StoredRunId id = 0;
  std::string project;
  std::string name;
  std::string machine;  ///< that shipped it
  std::string format;
  std::uint64_t changed = 0;  ///< milliseconds since the Unix epoch; rises with every change
  double began = kNoTime;     ///< wall time of its first event, seconds since the Unix epoch
  double last_time = kNoTime;
  std::uint64_t points = 0;
  std::vector<std::string> tags;
  bool archived = false;
};

/// What a dashboard's list shows of a run, as its examiner left it.
struct StoredCard {
  StoredRunId id = 0;
  std::uint64_t changed = 0;  ///< the run's last change when it was examined
  double gradient_norm = kNoTime;
  std::string card;     ///< JSON
  std::string figures;  ///< JSON
};

/// What is kept of an examined run as JSON.
enum class StoredPage { run, report, layers };

/// Which runs to list.
struct RunFilter {
  std::string project;    ///< empty: of all projects
  std::string tag;        ///< only those that have it; empty: any
  bool archived = false;  ///< also those that were archived
};

/// How tables are made.
struct StoreSetup {
  std::string cluster;  ///< on every replica of this cluster of the server; empty: on the one server
};

/// The runs in a store. One thread at a time. Errors with the code `io` may pass; others need somebody.
class Store {
 public:
  Store(StoreAddress address, const StoreAccess& access);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Makes the database and its tables, or brings them up to date; does nothing where they are. Returns the version
  /// that was there before, 0 for none.
  [[nodiscard]] Result<std::uint32_t> init(const StoreSetup& setup = {});
  /// Whether the tables are there and of the version that this program knows.
  [[nodiscard]] Result<void> check();

  /// The runs, the newest change first.
  [[nodiscard]] Result<std::vector<RunCard>> runs(const RunFilter& filter = {});
  /// The one run that `name` means: its number in hexadecimal, its name, or the end of its name.
  [[nodiscard]] Result<RunCard> find(std::string_view name, const std::string& project);
  /// Reads a run in bounded memory: the same that its files would give.
  [[nodiscard]] Result<Run> read(const RunCard& card, const RunLimits& limits = {});
  /// Tells a whole run to `sink`, each point once.
  [[nodiscard]] Result<void> read_events(StoredRunId run, EventSink& sink);

  /// A text that changes when runs, what is said of them, or their pages do.
  [[nodiscard]] Result<std::string> state();
  /// When each run that has a page had changed last when it was examined.
  [[nodiscard]] Result<std::map<StoredRunId, std::uint64_t>> examined();
  [[nodiscard]] Result<std::vector<StoredCard>> stored_cards(const std::vector<StoredRunId>& runs);
  /// What its examiner made for dashboards; empty where it was not examined.
  [[nodiscard]] Result<std::string> page(StoredRunId run, StoredPage which);
  /// A stretch of a series in few columns, made by the store: no points leave it.
  [[nodiscard]] Result<std::vector<WindowSpan>> window(StoredRunId run, const std::string& series,
                                                       const WindowRequest& request);

  /// Gives a run another name, or none of its own when `name` is empty.
  [[nodiscard]] Result<void> rename(StoredRunId run, const std::string& name);
  [[nodiscard]] Result<void> tag(StoredRunId run, const std::string& tag, bool on);
  [[nodiscard]] Result<void> archive(StoredRunId run, bool on);
  /// Takes a run out of the store. It goes from lists at once, and from the disk in the server's own time. It comes
  /// back when a shipper that was started later ships its files.
  [[nodiscard]] Result<void> remove(StoredRunId run);

  /// For how many days the runs of a project are kept after their last change; nothing: for ever.
  [[nodiscard]] Result<std::optional<int>> retention(const std::string& project);
  [[nodiscard]] Result<void> set_retention(const std::string& project, std::optional<int> days);
  /// Removes what every project keeps no longer; how many runs that were. They come back only once their files have
  /// been written to.
  [[nodiscard]] Result<std::size_t> prune();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// A run's number as people see it: 16 hexadecimal digits.
[[nodiscard]] std::string to_text(StoredRunId run);

}  // namespace osler
