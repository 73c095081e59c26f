// Library: the runs below the served folders; every run has a card, few are held in memory.
#include "server/library.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "osler/diagnosis/diagnose.h"
#include "server/window.h"

namespace osler::server {
namespace {

using Path = std::filesystem::path;
using Clock = std::chrono::steady_clock;

// After an examination that took t, the next one of the same run waits at least kRest * t: live runs, however many and
// long, then take at most a tenth of a core each.
constexpr int kRest = 10;
// A round of examinations ends after this long, so that new runs are found while thousands still wait; the next round
// goes on where it ended.
constexpr auto kSlice = std::chrono::seconds(2);

/// FNV-1a, 64 bit: ids must be the same after a restart, so that an address can be kept.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

std::string id_of(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id(16, '0');
  std::uint64_t hash = hash_of(key);
  for (auto digit = id.rbegin(); digit != id.rend(); ++digit, hash >>= 4U) *digit = kDigits[hash & 15U];
  return id;
}

/// Whether `path`, with every link followed, is `root` or lies below it.
bool lies_in(const Path& path, const Path& root) {
  std::error_code failure;
  const Path real = std::filesystem::canonical(path, failure);
  if (failure) return false;
  const Path real_root = std::filesystem::canonical(root, failure);
  if (failure) return false;
  return std::mismatch(real_root.begin(), real_root.end(), real.begin(), real.end()).first == real_root.end();
}

std::vector<Path> run_files_in(const Path& root) {
  std::error_code error;
  if (std::filesystem::is_regular_file(root, error)) {
    return root.extension() == kRunFileExtension ? std::vector{root} : std::vector<Path>{};
  }
  std::vector<Path> found;
  const auto skip = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at(root, skip, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == kRunFileExtension && at->is_regular_file(ignored)) found.push_back(at->path());
  }
  return found;
}

std::size_t estimated_bytes(const Run& run) {
  std::size_t bytes = 1U << 16U;
  for (const Series& series : run.all_series()) {
    const SummaryLimits most;
    const std::uint64_t points = series.summary().points();
    bytes += sizeof(Series) + std::min<std::uint64_t>(points, most.buckets) * sizeof(Bucket) +
             std::min<std::uint64_t>(points, most.recent) * sizeof(Point);
  }
  return bytes;
}

RunLimits limits_of_one() {
  RunLimits limits;
  limits.buckets_in_all = 400'000;  // 55 MB: two may be read at once beside those that are held
  limits.recent_in_all = 500'000;
  return limits;
}

}  // namespace

struct Library::Entry {
  std::string id;
  std::string name;
  std::string format;
  Path root;
  Path run_file;     // or
  RunSource source;  // guarded by `mutex`, since a later search may bring more files

  struct Stamp {
    std::uint64_t bytes = 0;
    double modified = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  mutable std::mutex mutex;
  std::optional<FollowedRun> log;  // what is held of it
  std::optional<Run> file_run;
  std::optional<Report> report;
  Stamp read_stamp;
  Clock::time_point not_before{};
  bool examined = false;
  std::atomic<std::size_t> held_bytes{0};
  std::atomic<std::uint64_t> last_use{0};

  [[nodiscard]] std::vector<Path> paths() const {
    if (!run_file.empty()) return {run_file, Path(run_file.string() + "-wal")};
    std::vector<Path> paths;
    for (const SourceFile& file : source.files) paths.push_back(file.path);
    return paths;
  }

  /// Size and time of its files; nothing when one leads out of the root by now.
  [[nodiscard]] std::optional<Stamp> stamp(FileSystem& files) const {
    Stamp stamp;
    for (const Path& path : paths()) {
      const auto info = files.info(path);
      if (!info) continue;
      if (!lies_in(path, root)) return std::nullopt;
      stamp.bytes += info->size_bytes;
      stamp.modified = std::max(stamp.modified, info->modified_seconds);
    }
    return stamp;
  }

  [[nodiscard]] const Run& run() const { return log ? log->run() : *file_run; }

  void drop() {
    log.reset();
    file_run.reset();
    report.reset();
    held_bytes = 0;
  }
};

Library::Library(FileSystem& files, std::vector<Path> roots, LibraryLimits limits)
    : files_(files), roots_(std::move(roots)), limits_(limits) {}

Library::~Library() = default;

void Library::search() {
  std::map<std::string, EntryPtr> seen;
  for (const Path& root : roots_) search_root(root, seen);
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (seen.contains(at->first)) {
      ++at;
      continue;
    }
    cards_.erase(at->first);
    at = entries_.erase(at);
    gone_revision_ = ++revision_;
  }
  changed_.notify_all();
}

void Library::search_root(const Path& root, std::map<std::string, EntryPtr>& seen) {
  std::error_code ignored;
  for (const Path& path : run_files_in(root)) {
    if (!lies_in(path, root)) continue;
    auto entry = std::make_shared<Entry>();
    entry->id = id_of(path.lexically_normal().string());
    entry->name = path == root ? path.filename().string() : path.lexically_proximate(root).string();
    entry->format = kRunFileFormat;
    entry->root = root;
    entry->run_file = path;
    take(std::move(entry), seen);
  }
  auto sources = discover(files_, root, {});
  if (!sources) return;  // nothing yet; a training may still begin here
  for (RunSource& source : *sources) {
    const SourceFile& file = source.files.back();
    auto entry = std::make_shared<Entry>();
    entry->id = id_of(file.format->run_of(file.path).lexically_normal().string() + '\n' + file.run + '\n' +
                      std::string(file.format->id));
    entry->name = source.name;
    entry->format = file.format->id;
    entry->root = root;
    entry->source = std::move(source);
    take(std::move(entry), seen);
  }
}

void Library::take(EntryPtr fresh, std::map<std::string, EntryPtr>& seen) {
  if (seen.size() >= limits_.most_runs || !seen.emplace(fresh->id, fresh).second) return;
  const EntryPtr known = find(fresh->id);
  if (known != nullptr) {
    const std::lock_guard lock(known->mutex);
    if (known->source.files.size() != fresh->source.files.size()) {
      known->source = fresh->source;
      if (known->log) known->log->set_source(fresh->source);
    }
    return;
  }
  const auto stamp = fresh->stamp(files_);
  Card card = unexamined_card(fresh->id, fresh->name, fresh->format, stamp ? stamp->modified : 0);
  const std::lock_guard lock(mutex_);
  card.revision = ++revision_;
  cards_[fresh->id] = std::move(card);
  entries_[fresh->id] = std::move(fresh);
}

Library::EntryPtr Library::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

/// Brings a locked entry up to now: reads what is new and diagnoses it when there is anything.
Result<void> Library::read(Entry& entry) {
  entry.last_use = ++uses_;
  const auto stamp = entry.stamp(files_);
  if (!stamp) return Error{ErrorCode::not_found, "its files are no longer below the served folder", entry.name};
  const bool held = entry.report.has_value();
  if (held && (*stamp == entry.read_stamp || Clock::now() < entry.not_before)) return {};
  const auto start = Clock::now();
  readers_.acquire();
  const struct Release {
    std::counting_semaphore<2>& of;
    ~Release() { of.release(); }
  } release{readers_};
  if (!entry.run_file.empty()) {
    auto run = read_run_file(entry.run_file, limits_of_one());
    if (!run) return run.error();
    entry.file_run = std::move(*run);
  } else {
    ReadOptions options;
    options.limits = limits_of_one();
    if (!entry.log) entry.log.emplace(entry.source, options);
    entry.log->read_new(files_);
  }
  auto report = diagnose(entry.run());
  if (!report) return report.error();
  entry.report = std::move(*report);
  entry.read_stamp = *stamp;
  entry.examined = true;
  entry.held_bytes = estimated_bytes(entry.run());
  entry.not_before = Clock::now() + kRest * (Clock::now() - start);
  publish(entry, examined_card(entry.id, entry.name, stamp->modified, entry.run(), *entry.report));
  return {};
}

void Library::publish(const Entry& entry, Card card) {
  const std::lock_guard lock(mutex_);
  const auto at = cards_.find(entry.id);
  if (at == cards_.end()) return;  // gone meanwhile
  card.revision = at->second.json == card.json ? at->second.revision : ++revision_;
  at->second = std::move(card);
  changed_.notify_all();
}

/// Drops the runs that were not asked for longest until the rest fits.
void Library::make_room(const Entry& keep) {
  std::vector<EntryPtr> held;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_) {
      if (entry->held_bytes == 0) continue;
      bytes += entry->held_bytes;
      held.push_back(entry);
    }
  }
  std::sort(held.begin(), held.end(), [](const EntryPtr& a, const EntryPtr& b) { return a->last_use < b->last_use; });
  for (const EntryPtr& entry : held) {
    if (bytes <= limits_.held_bytes) return;
    const std::unique_lock lock(entry->mutex, std::try_to_lock);
    if (entry.get() == &keep || !lock) continue;
    bytes -= std::min<std::size_t>(bytes, entry->held_bytes);
    entry->drop();
  }
}

void Library::examine_changed(const std::stop_token& stop) {
  std::vector<EntryPtr> all;
  {
    const std::lock_guard lock(mutex_);
    const auto next = entries_.upper_bound(last_examined_);
    for (auto at = next; at != entries_.end(); ++at) all.push_back(at->second);
    for (auto at = entries_.begin(); at != next; ++at) all.push_back(at->second);
  }
  const auto end = Clock::now() + kSlice;
  for (const EntryPtr& entry : all) {
    if (stop.stop_requested() || Clock::now() > end) return;
    last_examined_ = entry->id;
    {
      const std::lock_guard lock(entry->mutex);
      const auto stamp = entry->stamp(files_);
      if (entry->examined && (!stamp || *stamp == entry->read_stamp || Clock::now() < entry->not_before)) continue;
      if (const auto done = read(*entry); !done) {
        entry->drop();
        entry->examined = true;
        entry->read_stamp = stamp.value_or(Entry::Stamp{});
        publish(*entry, unreadable_card(entry->id, entry->name, entry->format, stamp ? stamp->modified : 0,
                                        done.error().message));
      }
    }
    make_room(*entry);
  }
}

std::vector<std::string> Library::cards_json() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  all.reserve(cards_.size());
  for (const auto& [id, card] : cards_) all.push_back(card.json);
  return all;
}

std::vector<Card> Library::cards() const {
  const std::lock_guard lock(mutex_);
  std::vector<Card> all;
  for (const auto& [id, card] : cards_) all.push_back(card);
  return all;
}

std::uint64_t Library::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

Changes Library::changes_since(std::uint64_t since, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return revision_ > since; });
  Changes changes{.revision = revision_, .cards = {}, .runs_gone = gone_revision_ > since};
  if (revision_ <= since) return changes;
  for (const auto& [id, card] : cards_) {
    if (card.revision > since) changes.cards.push_back(card.json);
  }
  return changes;
}

Result<void> Library::with_run(std::string_view id, const std::function<void(const Run&, const Report&)>& look) {
  const EntryPtr entry = find(id);
  if (entry == nullptr) return Error{ErrorCode::not_found, "no such run", std::string(id)};
  {
    const std::lock_guard lock(entry->mutex);
    if (const auto done = read(*entry); !done) return done.error();
    look(entry->run(), *entry->report);
  }
  make_room(*entry);
  return {};
}

Result<std::vector<WindowSpan>> Library::window(std::string_view id, std::string_view series,
                                                const WindowRequest& request) {
  const EntryPtr entry = find(id);
  if (entry == nullptr) return Error{ErrorCode::not_found, "no such run", std::string(id)};
  if (!entry->run_file.empty()) {
    if (!lies_in(entry->run_file, entry->root)) return Error{ErrorCode::not_found, "no such run", std::string(id)};
    auto reader = RunFileReader::open(entry->run_file);
    if (!reader) return reader.error();
    return reader->window(series, request);
  }
  std::optional<std::vector<WindowSpan>> spans;
  const auto seen = with_run(id, [&](const Run& run, const Report&) {
    if (const Series* found = run.find(series)) spans = window_of(found->summary(), request);
  });
  if (!seen) return seen.error();
  if (!spans) return Error{ErrorCode::not_found, "no such series", std::string(series)};
  return std::move(*spans);
}

}  // namespace osler::server
