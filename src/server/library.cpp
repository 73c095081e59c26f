// Library: the runs below the served folders; every run has a card, few are held in memory.
#include "server/library.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/wall_clock.h"
#include "dashboard/json.h"
#include "dashboard/run_json.h"
#include "dashboard/window.h"
#include "osler/report/render.h"
#include "osler/source/source.h"
#include "server/entry.h"

namespace osler::server {
namespace {

using dashboard::Card;
using Path = std::filesystem::path;
using Clock = std::chrono::steady_clock;

// A round of examinations ends after this long, so that new runs are found while thousands still wait; the next round
// goes on where it ended.
constexpr auto kSlice = std::chrono::seconds(2);
constexpr auto kLongReading = std::chrono::milliseconds(50);

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

// More than this nobody reads; how many there are is told.
constexpr std::size_t kLeftOutTold = 100;

std::string told_left_out(const std::vector<LeftOut>& left_out) {
  auto files = dashboard::Json::array();
  for (const LeftOut& left : left_out) {
    if (files.size() < kLeftOutTold) files.push_back({{"path", left.path.string()}, {"why", left.why}});
  }
  return dashboard::written({{"count", left_out.size()}, {"files", std::move(files)}});
}

Error no_such_run(std::string_view id) {
  return {ErrorCode::not_found, "no such run", std::string(id)};
}

}  // namespace

Library::Library(FileSystem& files, std::vector<Path> roots, std::vector<std::string> archive,
                 DiagnosisOptions diagnosis, LibraryLimits limits)
    : files_(files),
      roots_(std::move(roots)),
      archive_(std::move(archive)),
      diagnosis_(std::move(diagnosis)),
      limits_(limits) {}

Library::~Library() = default;

void Library::search(const std::stop_token& stop) {
  const std::lock_guard searching(searching_);
  std::map<std::string, EntryPtr> seen;
  std::vector<LeftOut> left_out;
  for (const Path& root : roots_) search_root(root, stop, seen, left_out);
  if (stop.stop_requested()) return;  // what was not reached is not gone
  const std::lock_guard lock(mutex_);
  if (told_left_out(left_out_) != told_left_out(left_out)) anew_revision_ = ++revision_;
  left_out_ = std::move(left_out);
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (seen.contains(at->first)) {
      ++at;
      continue;
    }
    cards_.erase(at->first);
    at = entries_.erase(at);
    anew_revision_ = ++revision_;
  }
  if (!std::exchange(searched_, true)) anew_revision_ = ++revision_;
  changed_.notify_all();
}

std::string Library::notice(const Path& run_file) {
  const std::lock_guard searching(searching_);
  for (const Path& root : roots_) {
    std::error_code failure;
    const Path real_root = std::filesystem::canonical(root, failure);
    if (failure || !lies_in(run_file, real_root)) continue;
    EntryPtr entry = entry_of(run_file, root, real_root);
    std::map<std::string, EntryPtr> seen;
    take(std::move(entry), seen);
    break;
  }
  changed_.notify_all();
  return id_of(run_file.lexically_normal().string());
}

Library::EntryPtr Library::entry_of(const Path& run_file, const Path& root, const Path& real_root) {
  auto entry = std::make_shared<Entry>();
  entry->id = id_of(run_file.lexically_normal().string());
  entry->name = run_file == root ? run_file.filename().string() : run_file.lexically_proximate(root).string();
  entry->format = kRunFileFormat;
  entry->real_root = real_root;
  entry->run_file = run_file;
  return entry;
}

void Library::search_root(const Path& root, const std::stop_token& stop, std::map<std::string, EntryPtr>& seen,
                          std::vector<LeftOut>& left_out) {
  std::error_code failure;
  const Path real_root = std::filesystem::canonical(root, failure);
  if (failure) return;
  if (names_run_file(files_, root)) {
    return take(entry_of(root, root, real_root), seen);
  }
  ReadOptions options;
  options.stop = stop;
  options.other_ending = kRunFileExtension;
  auto found = survey(files_, root, options);
  if (!found) return;  // nothing yet; a training may still begin here
  for (const Path& path : found->others) {
    if (lies_in(path, real_root)) take(entry_of(path, root, real_root), seen);
  }
  const auto shown = [&](const Path& path) { return path.lexically_proximate(root); };
  for (const LeftOut& left : found->left_out) left_out.push_back({shown(left.path), left.why});
  for (const Error& error : found->unreadable) left_out.push_back({shown(error.context), error.message});
  for (RunSource& source : found->runs) {
    const SourceFile& file = source.files.back();
    auto entry = std::make_shared<Entry>();
    entry->id = id_of(file.format->run_of(file.path).lexically_normal().string() + '\n' + file.run + '\n' +
                      std::string(file.format->id));
    entry->name = source.name;
    entry->format = file.format->id;
    entry->real_root = real_root;
    entry->source = std::move(source);
    take(std::move(entry), seen);
  }
}

void Library::take(EntryPtr fresh, std::map<std::string, EntryPtr>& seen) {
  if (seen.size() >= limits_.most_runs || !seen.emplace(fresh->id, fresh).second) return;
  if (const EntryPtr known = find(fresh->id)) {
    const std::lock_guard lock(known->mutex);
    known->set_source(fresh->source);
    return;
  }
  Card card = dashboard::unexamined_card(fresh->id, fresh->name, fresh->format, fresh->stamp(files_).modified);
  const std::lock_guard lock(mutex_);
  card = put_away(std::move(card));
  card.revision = ++revision_;
  cards_[fresh->id] = std::move(card);
  entries_[fresh->id] = std::move(fresh);
}

Library::EntryPtr Library::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

/// Reads and diagnoses a locked entry unless what is held is fresh.
Result<void> Library::bring_up_to_now(Entry& entry) {
  entry.last_use = ++uses_;
  if (!entry.is_inside()) {
    return Error{ErrorCode::not_found, "its files are no longer below the served folder", entry.name};
  }
  const Entry::Stamp now = entry.stamp(files_);
  if (entry.is_fresh(now)) return {};
  readers_.acquire();
  const auto done = entry.read(files_, now, diagnosis_);
  readers_.release();
  if (!done) return done.error();
  publish(entry, dashboard::examined_card(entry.id, entry.name, now.modified, entry.run(), *entry.report));
  return {};
}

/// The card, marked as archived where a pattern says so: of its name, or of a folder that it lies in.
Card Library::put_away(Card card) const {
  const bool archived = std::any_of(archive_.begin(), archive_.end(), [&card](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), card.name.c_str(), 0) == 0 ||
           ::fnmatch((pattern + "/*").c_str(), card.name.c_str(), 0) == 0;
  });
  return archived ? dashboard::archived_card(std::move(card)) : card;
}

void Library::publish(const Entry& entry, Card card) {
  card = put_away(std::move(card));
  const std::lock_guard lock(mutex_);
  const auto at = cards_.find(entry.id);
  if (at == cards_.end()) return;  // gone meanwhile
  card.revision = at->second.json == card.json ? at->second.revision : ++revision_;
  at->second = std::move(card);
  changed_.notify_all();
}

/// Drops the runs, and then the answers, that were not asked for longest until the rest fits.
void Library::make_room(const Entry& keep) {
  std::vector<EntryPtr> held;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_) {
      const std::size_t own = entry->held_bytes + entry->answer_bytes;
      if (own == 0) continue;
      bytes += own;
      held.push_back(entry);
    }
  }
  if (bytes <= limits_.held_bytes) return;
  std::sort(held.begin(), held.end(), [](const EntryPtr& a, const EntryPtr& b) { return a->last_use < b->last_use; });
  for (const bool answers : {false, true}) {
    for (const EntryPtr& entry : held) {
      if (bytes <= limits_.held_bytes) return;
      const std::unique_lock lock(entry->mutex, std::try_to_lock);
      if (entry.get() == &keep || !lock) continue;
      bytes -= std::min<std::size_t>(bytes, answers ? entry->answer_bytes : entry->held_bytes);
      if (answers) {
        entry->drop_answers();
      } else {
        entry->drop_run();
      }
    }
  }
}

void Library::examine(Entry& entry) {
  const std::lock_guard lock(entry.mutex);
  const Entry::Stamp now = entry.stamp(files_);
  if (!entry.is_due(now)) return;
  entry.last_use = ++uses_;
  auto done = Result<void>(Error{ErrorCode::not_found, "its files are no longer below the served folder", entry.name});
  if (entry.is_inside()) {
    readers_.acquire();
    done = entry.read(files_, now, diagnosis_);
    readers_.release();
  }
  if (done) {
    publish(entry, dashboard::examined_card(entry.id, entry.name, now.modified, entry.run(), *entry.report));
    // What takes long to read may be dropped before anybody asks for it: its page is made now.
    if (entry.reading_took >= kLongReading) {
      for (const Answer which : {Answer::run, Answer::report, Answer::heat}) (void)made_answer(entry, which);
    }
    return;
  }
  entry.give_up(now);
  publish(entry, dashboard::unreadable_card(entry.id, entry.name, entry.format, now.modified, done.error().message));
}

void Library::examine_changed(const std::stop_token& stop) {
  std::vector<EntryPtr> all;
  {
    const std::lock_guard lock(mutex_);
    const auto next = entries_.upper_bound(last_examined_);
    for (auto at = next; at != entries_.end(); ++at) all.push_back(at->second);
    for (auto at = entries_.begin(); at != next; ++at) all.push_back(at->second);
  }
  // Making room looks at all runs, so it is done for many at once: when they may have grown by a part of what is
  // allowed.
  constexpr std::size_t kPart = 16;
  const auto end = Clock::now() + kSlice;
  std::size_t grown = 0;
  EntryPtr newest;
  for (const EntryPtr& entry : all) {
    if (stop.stop_requested() || Clock::now() > end) break;
    last_examined_ = entry->id;
    const std::size_t before = entry->held_bytes;
    examine(*entry);
    if (entry->held_bytes == before) continue;
    newest = entry;
    grown += entry->held_bytes + entry->answer_bytes;
    if (grown <= limits_.held_bytes / kPart) continue;
    make_room(*newest);
    grown = 0;
  }
  if (grown > 0) make_room(*newest);
}

Text Library::runs_json() const {
  const std::lock_guard lock(mutex_);
  if (runs_json_ != nullptr && runs_revision_ == revision_) return runs_json_;
  std::size_t size = 100 + cards_.size();
  for (const auto& [id, card] : cards_) size += card.json.size();
  auto text = std::make_shared<std::string>();
  text->reserve(size);
  *text +=
      "{\"revision\":" + std::to_string(revision_) + ",\"searched\":" + (searched_ ? "true" : "false") + ",\"runs\":[";
  for (const auto& [id, card] : cards_) {
    if (text->back() != '[') *text += ',';
    *text += card.json;
  }
  *text += "],\"left_out\":" + told_left_out(left_out_) + "}";
  runs_json_ = std::move(text);
  runs_revision_ = revision_;
  return runs_json_;
}

std::string Library::table_json() const {
  const std::lock_guard lock(mutex_);
  std::string text = "{\"runs\":{";
  for (const auto& [id, card] : cards_) {
    if (card.row.empty()) continue;
    if (text.back() != '{') text += ',';
    text += '"' + id + "\":" + card.row;
  }
  return text + "}}";
}

std::vector<Card> Library::cards() const {
  const std::lock_guard lock(mutex_);
  std::vector<Card> all;
  for (const auto& [id, card] : cards_) all.push_back(card);
  return all;
}

void Library::wake() {
  const std::lock_guard lock(mutex_);
  awake_ = true;
  changed_.notify_all();
}

std::uint64_t Library::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

Changes Library::changes_since(std::uint64_t since, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return awake_ || revision_ > since; });
  Changes changes{.revision = revision_, .cards = {}, .list_anew = anew_revision_ > since};
  if (revision_ <= since) return changes;
  for (const auto& [id, card] : cards_) {
    if (card.revision > since) changes.cards.push_back(card.json);
  }
  return changes;
}

Result<void> Library::with_run(std::string_view id, const std::function<void(const Run&, const Report&)>& look) {
  const EntryPtr entry = find(id);
  if (entry == nullptr) return no_such_run(id);
  {
    const std::lock_guard lock(entry->mutex);
    if (const auto done = bring_up_to_now(*entry); !done) return done.error();
    look(entry->run(), *entry->report);
  }
  make_room(*entry);
  return {};
}

Result<void> Library::with_runs(std::string_view a, std::string_view b,
                                const std::function<void(const Run&, const Run&)>& look) {
  const EntryPtr first = find(a);
  const EntryPtr second = find(b);
  if (first == nullptr || second == nullptr) return no_such_run(first == nullptr ? a : b);
  if (first == second) return Error{ErrorCode::invalid_argument, "these are one and the same run", std::string(a)};
  {
    const std::scoped_lock lock(first->mutex, second->mutex);  // takes them so that no two threads can block each other
    if (const auto done = bring_up_to_now(*first); !done) return done.error();
    if (const auto done = bring_up_to_now(*second); !done) return done.error();
    look(first->run(), second->run());
  }
  make_room(*second);
  return {};
}

bool Library::grows(std::string_view id) {
  constexpr double kStill = 600;
  const EntryPtr entry = find(id);
  if (entry == nullptr) return false;
  const std::lock_guard lock(entry->mutex);
  const double now = wall_seconds();
  return now - entry->stamp(files_).modified < kStill;
}

/// The answer about a locked entry whose run is held, made when it is not there.
Text Library::made_answer(Entry& entry, Answer which) {
  if (Text kept = entry.kept_answer(static_cast<std::size_t>(which))) return kept;
  const auto made = [&]() -> std::string {
    switch (which) {
      case Answer::run:
        return dashboard::run_json(entry.id, entry.run(), *entry.report);
      case Answer::report:
        return render_json_line(*entry.report);
      case Answer::heat:
        break;
    }
    return dashboard::heat_json(entry.run(), *entry.report);
  };
  auto answer = std::make_shared<const std::string>(made());
  entry.keep_answer(static_cast<std::size_t>(which), answer);
  return answer;
}

Result<Text> Library::answer(std::string_view id, Answer which) {
  const EntryPtr entry = find(id);
  if (entry == nullptr) return no_such_run(id);
  Text text = entry->kept_answer(static_cast<std::size_t>(which));
  {
    std::unique_lock lock(entry->mutex, std::try_to_lock);
    if (!lock && text != nullptr) return text;  // it is being read again, which may take seconds
    if (!lock) lock.lock();
    text = entry->kept_answer(static_cast<std::size_t>(which));
    const bool known = text != nullptr && entry->is_inside() && entry->stamp(files_) == entry->read_stamp;
    if (known) {
      entry->last_use = ++uses_;
      return text;
    }
    if (const auto done = bring_up_to_now(*entry); !done) return done.error();
    text = made_answer(*entry, which);
  }
  make_room(*entry);
  return text;
}

Result<SeriesWindow> Library::window(std::string_view id, const SeriesChoice& series, const WindowRequest& request) {
  const EntryPtr entry = find(id);
  if (entry == nullptr) return no_such_run(id);
  if (!entry->run_file.empty() && !series.number) {
    if (!lies_in(entry->run_file, entry->real_root)) return no_such_run(id);
    auto reader = RunFileReader::open(entry->run_file);
    if (!reader) return reader.error();
    auto spans = reader->window(series.name, request);
    if (!spans) return spans.error();
    return SeriesWindow{series.name, std::move(*spans)};
  }
  std::optional<SeriesWindow> window;
  const auto seen = with_run(id, [&](const Run& run, const Report&) {
    const Series* found = nullptr;
    if (!series.number) {
      found = run.find(series.name);
    } else if (*series.number < run.all_series().size()) {
      found = &run.all_series()[*series.number];
    }
    if (found != nullptr) window = SeriesWindow{found->name(), dashboard::window_of(found->summary(), request)};
  });
  if (!seen) return seen.error();
  if (!window) return Error{ErrorCode::not_found, "no such series", series.name};
  return std::move(*window);
}

}  // namespace osler::server
