// Library: the runs below the served folders; every run has a card, few are held in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/card.h"
#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/formats/read.h"
#include "osler/runfile/reader.h"
#include "server/shelf.h"

namespace osler::server {

struct Entry;

/// How much memory the library may hold.
struct LibraryLimits {
  std::size_t held_bytes = 112U << 20U;  ///< runs and answers kept ready, by estimate; one run is always kept
  std::size_t most_runs = 20'000;        ///< runs beyond this many are not listed
};

/// Finds runs, examines each when it is new or was written to, and answers questions about any of them. Ids are hashes,
/// so that no path comes from outside. Its methods may be called from several threads where nothing else is said.
class Library final : public Shelf {
 public:
  /// `archive` has patterns of names, as the shell has them, or folders: such runs are listed apart.
  /// `diagnosis` says how every run is judged.
  Library(FileSystem& files, std::vector<std::filesystem::path> roots, std::vector<std::string> archive = {},
          DiagnosisOptions diagnosis = {}, LibraryLimits limits = {});
  ~Library() override;

  /// Looks for runs that are new or gone. Leaves everything as it was when a stop is requested meanwhile.
  void search(const std::stop_token& stop = {}) override;
  /// From now on nobody waits for changes: the server ends.
  void wake() override;
  /// Takes a run file below a root before the next search finds it; returns its id.
  std::string notice(const std::filesystem::path& run_file);
  /// Examines what is new or was written to since, for a few seconds at most; the next call goes on from there. Returns
  /// early when a stop is requested. One thread at a time.
  void examine_changed(const std::stop_token& stop) override;

  /// All cards: {"revision", "searched", "runs": [card...], "left_out": {"count", "files": [{"path", "why"}...]}};
  /// before the first search is over some may be missing.
  [[nodiscard]] Text runs_json() const override;
  /// Configuration and figures of every run that was examined: {"runs": {id: {"configuration", "metrics"}...}}.
  [[nodiscard]] std::string table_json() const override;
  [[nodiscard]] std::vector<dashboard::Card> cards() const override;
  /// Waits until something is newer than `since`, at most `patience`.
  [[nodiscard]] Changes changes_since(std::uint64_t since, std::chrono::milliseconds patience) const override;
  [[nodiscard]] std::uint64_t revision() const override;
  [[nodiscard]] const DiagnosisOptions& diagnosis() const override { return diagnosis_; }

  /// Shows the run with that id, read and examined up to now, to `look`. Fails when there is none or it is unreadable.
  [[nodiscard]] Result<void> with_run(std::string_view id,
                                      const std::function<void(const Run&, const Report&)>& look) override;
  /// Shows two runs at once.
  [[nodiscard]] Result<void> with_runs(std::string_view a, std::string_view b,
                                       const std::function<void(const Run&, const Run&)>& look) override;
  /// Whether the run was written to within the last minutes.
  [[nodiscard]] bool grows(std::string_view id) override;
  /// One of the answers about a run, kept until the run is written to.
  [[nodiscard]] Result<Text> answer(std::string_view id, Answer which) override;
  /// A stretch of a series: from the pyramid of a run file, from the summary of a log.
  [[nodiscard]] Result<SeriesWindow> window(std::string_view id, const SeriesChoice& series,
                                            const WindowRequest& request) override;

 private:
  using EntryPtr = std::shared_ptr<Entry>;

  [[nodiscard]] static EntryPtr entry_of(const std::filesystem::path& run_file, const std::filesystem::path& root,
                                         const std::filesystem::path& real_root);
  void search_root(const std::filesystem::path& root, const std::stop_token& stop,
                   std::map<std::string, EntryPtr>& seen, std::vector<LeftOut>& left_out);
  void take(EntryPtr fresh, std::map<std::string, EntryPtr>& seen);
  [[nodiscard]] EntryPtr find(std::string_view id) const;
  [[nodiscard]] dashboard::Card put_away(dashboard::Card card) const;
  [[nodiscard]] Result<void> bring_up_to_now(Entry& entry);
  void examine(Entry& entry);
  [[nodiscard]] static Text made_answer(Entry& entry, Answer which);
  void publish(const Entry& entry, dashboard::Card card);
  void make_room(const Entry& keep);

  FileSystem& files_;
  std::vector<std::filesystem::path> roots_;
  std::vector<std::string> archive_;
  DiagnosisOptions diagnosis_;
  LibraryLimits limits_;
  std::counting_semaphore<2> readers_{2};  // reading is what costs memory before it is counted
  std::atomic<std::uint64_t> uses_{0};
  std::mutex searching_;       // one search or notice at a time; taken before all others
  std::string last_examined_;  // where the last round of examinations ended

  mutable std::mutex mutex_;  // of what follows; taken after an entry's own, never before
  mutable std::condition_variable changed_;
  std::map<std::string, EntryPtr, std::less<>> entries_;
  std::map<std::string, dashboard::Card, std::less<>> cards_;
  std::uint64_t revision_ = 1;
  mutable Text runs_json_;  // as of `runs_revision_`
  mutable std::uint64_t runs_revision_ = 0;
  std::uint64_t anew_revision_ = 0;
  bool searched_ = false;
  bool awake_ = false;
  std::vector<LeftOut> left_out_;  // what lies below the roots and was not taken for a run
};

}  // namespace osler::server
