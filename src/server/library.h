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
#include <semaphore>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/formats/follow.h"
#include "osler/runfile/reader.h"
#include "server/card.h"

namespace osler::server {

/// How much memory the library may hold.
struct LibraryLimits {
  std::size_t held_bytes = 128U << 20U;  ///< runs kept ready to draw, by estimate; one is always kept
  std::size_t most_runs = 20'000;        ///< runs beyond this many are not listed
};

/// The cards that changed after a revision.
struct Changes {
  std::uint64_t revision = 0;
  std::vector<std::string> cards;  ///< as JSON
  bool runs_gone = false;          ///< some run is no longer there: the list is to be asked for anew
};

/// Finds runs, examines each when it is new or was written to, and answers questions about any of them. Ids are hashes,
/// so that no path comes from outside. Its methods may be called from several threads where nothing else is said.
class Library {
 public:
  Library(FileSystem& files, std::vector<std::filesystem::path> roots, LibraryLimits limits = {});
  ~Library();

  /// Looks for runs that are new or gone.
  void search();
  /// Examines what is new or was written to since, for a few seconds at most; the next call goes on from there. Returns
  /// early when a stop is requested. One thread at a time.
  void examine_changed(const std::stop_token& stop);

  /// All cards as JSON.
  [[nodiscard]] std::vector<std::string> cards_json() const;
  [[nodiscard]] std::vector<Card> cards() const;
  /// Waits until something is newer than `since`, at most `patience`.
  [[nodiscard]] Changes changes_since(std::uint64_t since, std::chrono::milliseconds patience) const;
  [[nodiscard]] std::uint64_t revision() const;

  /// Shows the run with that id, read and examined up to now, to `look`. Fails when there is none or it is unreadable.
  [[nodiscard]] Result<void> with_run(std::string_view id, const std::function<void(const Run&, const Report&)>& look);
  /// A stretch of a series: from the pyramid of a run file, from the summary of a log.
  [[nodiscard]] Result<std::vector<WindowSpan>> window(std::string_view id, std::string_view series,
                                                       const WindowRequest& request);

 private:
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;

  void search_root(const std::filesystem::path& root, std::map<std::string, EntryPtr>& seen);
  void take(EntryPtr fresh, std::map<std::string, EntryPtr>& seen);
  [[nodiscard]] EntryPtr find(std::string_view id) const;
  [[nodiscard]] Result<void> read(Entry& entry);
  void publish(const Entry& entry, Card card);
  void make_room(const Entry& keep);

  FileSystem& files_;
  std::vector<std::filesystem::path> roots_;
  LibraryLimits limits_;
  std::counting_semaphore<2> readers_{2};  // reading is what costs memory before it is counted
  std::atomic<std::uint64_t> uses_{0};
  std::string last_examined_;  // where the last round of examinations ended

  mutable std::mutex mutex_;  // of what follows; taken after an entry's own, never before
  mutable std::condition_variable changed_;
  std::map<std::string, EntryPtr, std::less<>> entries_;
  std::map<std::string, Card, std::less<>> cards_;
  std::uint64_t revision_ = 1;
  std::uint64_t gone_revision_ = 0;
};

}  // namespace osler::server
