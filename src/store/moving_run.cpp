// A run asks the store once how far it came, and from then on knows it by itself: it is the only one who ships it.
#include "store/moving_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "osler/formats/format.h"
#include "store/clock.h"
#include "store/fields.h"
#include "store/identity.h"

namespace osler::store {
namespace {

/// Takes everything and keeps nothing: for what comes after the end.
class Nowhere final : public EventSink {
 public:
  SeriesId series(std::string_view name) override {
    return ids_.try_emplace(std::string(name), static_cast<SeriesId>(ids_.size())).first->second;
  }
  void add(const Event& /*event*/) override {}
  void add(Mark /*mark*/) override {}
  void config(std::string_view /*key*/, std::string_view /*value*/) override {}

 private:
  std::unordered_map<std::string, SeriesId> ids_;
};

EventSink& nowhere() {
  static Nowhere sink;
  return sink;
}

std::string whole_path(const std::filesystem::path& path) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(path, problem);
  return (problem ? path : whole).lexically_normal().string();
}

/// The first generation of a run that was removed at that time: higher than all before, for they rise one by one, or,
/// of pipes, with the time of day.
std::uint32_t generation_after(std::uint64_t removed_at) {
  return static_cast<std::uint32_t>(removed_at / 1000);
}

}  // namespace

void MovingRun::rename(const std::string& name, const std::string& format) {
  row_.name = name;
  if (!format.empty()) row_.format = format;
}

void MovingRun::saw(const Event& event) {
  if (!std::isfinite(event.wall_time)) return;
  if (!(row_.began <= event.wall_time)) row_.began = event.wall_time;
  if (!(row_.last_time >= event.wall_time)) row_.last_time = event.wall_time;
}

bool MovingRun::load_labels() {
  const auto rows = hold_.courier().ask(
      fmt::format("SELECT label, value, changed FROM labels FINAL WHERE run = {} AND label IN ({}, {})", row_.run,
                  store::quoted(kRemovedLabel), store::quoted(kReturnedLabel)));
  if (!rows) return false;
  for (const auto& row : *rows) labels_.put(row.at(0), {row.at(1), to_u64(row.at(2))});
  returns_ = labels_.is_removed();
  return true;
}

bool MovingRun::load() {
  if (loaded_) return true;
  if (!load_labels()) return false;
  Courier& courier = hold_.courier();
  const auto row = courier.ask(fmt::format("SELECT changed, events FROM runs FINAL WHERE run = {}", row_.run));
  if (!row) return false;
  // Its row is written last, so a run without one may have streams all the same.
  const auto streams = courier.ask(
      fmt::format("SELECT stream, path, generation, position, inode, format, void FROM streams FINAL WHERE run = {} "
                  "ORDER BY path, generation",
                  row_.run));
  if (!streams) return false;
  loaded_ = streams->empty();
  if (loaded_) return true;
  const auto progress = courier.ask(
      fmt::format("SELECT stream, number, bytes, fingerprint FROM progress FINAL WHERE run = {}", row_.run));
  if (!progress) return false;
  if (!row->empty()) row_.changed = to_u64(row->front().at(0));
  std::map<std::uint64_t, Reached> reached;
  for (const auto& fields : *progress) {
    reached[to_u64(fields.at(0))] = {to_u64(fields.at(1)), to_u64(fields.at(2)), to_u64(fields.at(3))};
  }
  for (const auto& fields : *streams) {
    StoredStream stored{to_u64(fields.at(0)),
                        fields.at(1),
                        static_cast<std::uint32_t>(to_u64(fields.at(2))),
                        static_cast<std::uint32_t>(to_u64(fields.at(3))),
                        to_u64(fields.at(4)),
                        fields.at(5),
                        fields.at(6) != "0"};
    // What was there before the run was removed may still lie on the disk.
    if (stored.generation < generation_after(labels_.removed_at())) stored.is_void = true;
    const Reached known = reached[stored.id];
    const std::string path = stored.path;
    states_.push_back(std::make_unique<StreamState>(StreamState{std::move(stored), known, 0}));
    newest_[path] = states_.back().get();
  }
  // Who died between the events and the run's own row left a run whose change nobody sees. A row of an older Osler does
  // not tell how many there were.
  std::uint64_t events = 0;
  for (const auto& state : states_) events += state->reached.number;
  const std::uint64_t told = row->empty() ? 0 : to_u64(row->front().at(1));
  behind_ = row->empty() || (told != 0 && told != events);
  loaded_ = true;
  return true;
}

StreamState* MovingRun::known(const std::string& path) {
  if (!load()) return nullptr;
  const auto found = newest_.find(path);
  return found == newest_.end() ? nullptr : found->second;
}

StreamState* MovingRun::begin_stream(const std::string& path, const std::string& format, std::uint32_t position,
                                     std::uint64_t inode, bool over) {
  if (!load()) return nullptr;
  std::uint32_t generation = generation_after(labels_.removed_at());
  if (StreamState* const before = known(path); before != nullptr) {
    generation = std::max(generation, before->stored.generation + 1);
    if (over && !before->stored.is_void) {
      before->stored.is_void = true;
      hold_.pending().stream(row_.run, before->stored);
      moved_.erase(before);
    }
  }
  const std::string number = std::to_string(generation);
  std::uint64_t id = identity({std::to_string(row_.run), path, number});
  // Never the number of a stream that was removed: how far that one had come may still be in the store.
  if (labels_.removed_at() > 0) {
    id = identity({std::to_string(row_.run), path, number, std::to_string(labels_.removed_at())});
  }
  states_.push_back(
      std::make_unique<StreamState>(StreamState{{id, path, generation, position, inode, format, false}, {}, 0}));
  newest_[path] = states_.back().get();
  hold_.pending().stream(row_.run, states_.back()->stored);
  told_.clear();
  touched_ = true;
  return states_.back().get();
}

void MovingRun::reached(StreamState& state, const Reached& reached) {
  state.reached = reached;
  moved_.insert(&state);
  // Not before what is there has been read again: only then it is known how much that is.
  if (std::exchange(behind_, false)) touched_ = true;
}

bool MovingRun::stays_away(const std::filesystem::path& file) {
  if (!load()) return true;
  if (!labels_.is_pruned()) return false;
  const auto info = real_file_system().info(file);
  return info && info->modified_seconds * 1000 <= static_cast<double>(labels_.removed_at());
}

EventSink& MovingRun::begin(const SourceFile& file, std::size_t position) {
  if (!file.run.empty()) {
    const std::string path = whole_path(file.path) + "#" + file.run;
    auto& stream = databases_[path];
    stream = std::make_unique<DatabaseStream>(*this, path, std::string(file.format->id), file.path);
    return *stream;
  }
  return log(file, static_cast<std::uint32_t>(position));
}

EventSink& MovingRun::log(const SourceFile& file, std::uint32_t position) {
  const std::string path = whole_path(file.path);
  // What was told of the file so far counts as told only when the store has it.
  if (newest_.count(path) > 0 && !hold_.send()) return nowhere();
  const auto info = real_file_system().info(file.path);
  const std::uint64_t inode = info ? info->inode : 0;
  const std::string format(file.format->id);
  if (stays_away(file.path)) return nowhere();
  StreamState* state = known(path);
  const bool usable = state != nullptr && !state->stored.is_void && state->stored.format == format;
  if (!usable) {
    state = begin_stream(path, format, position, inode, true);
  } else if (!continues(file.path, state->reached)) {
    // In another file at the same path training went on; in the same one it was written over.
    state = begin_stream(path, format, position, inode, state->stored.inode == inode);
  } else if (state->stored.position != position || state->stored.inode != inode) {
    state->stored.position = position;
    state->stored.inode = inode;
    hold_.pending().stream(row_.run, state->stored);
  }
  if (state == nullptr) return nowhere();
  state->points = 0;
  auto& log = logs_[position];
  log = std::make_unique<LogStream>(*this, *state);
  return *log;
}

/// Whether a file still begins with the bytes that were read of it.
bool MovingRun::continues(const std::filesystem::path& path, const Reached& reached) {
  if (reached.bytes == 0) return true;
  const auto edges = file_edges(real_file_system(), path, reached.bytes);
  return edges && identity({edges->head, edges->tail}) == reached.fingerprint;
}

void MovingRun::read_to(std::size_t position, std::uint64_t offset, std::string_view head, std::string_view tail) {
  const auto log = logs_.find(position);
  if (log != logs_.end()) log->second->read_to(offset, identity({head, tail}));
}

EventSink& MovingRun::stream(const std::string& path, const std::string& format, bool over) {
  // A pipe cannot wait for the store to say which generation comes next; the time of day rises as well.
  loaded_ = true;
  returns_ = true;
  if (over && pipe_ != nullptr) {
    pipe_->state().stored.is_void = true;
    hold_.pending().stream(row_.run, pipe_->state().stored);
  }
  StreamState* const before = newest_[path];
  auto generation = static_cast<std::uint32_t>(now_milliseconds() / 1000);
  if (before != nullptr) generation = std::max(generation, before->stored.generation + 1);
  const std::uint64_t id =
      identity({std::to_string(row_.run), path, std::to_string(now_milliseconds()), std::to_string(generation)});
  states_.push_back(std::make_unique<StreamState>(StreamState{{id, path, generation, 0, 0, format, false}, {}, 0}));
  newest_[path] = states_.back().get();
  hold_.pending().stream(row_.run, states_.back()->stored);
  if (!format.empty()) row_.format = format;
  touched_ = true;
  pipe_ = std::make_unique<LogStream>(*this, *states_.back());
  return *pipe_;
}

EventSink& MovingRun::database(const std::string& path, const std::string& format) {
  auto& stream = databases_[path];
  stream = std::make_unique<DatabaseStream>(*this, path, format, path);
  return *stream;
}

void MovingRun::finish_batch() {
  for (const StreamState* state : moved_) hold_.pending().reached({row_.run, state->stored.id}, state->reached);
  if (!touched_) return;
  if (returns_) {
    const std::uint64_t now = std::max(now_milliseconds(), labels_.removed_at() + 1);
    hold_.pending().label(row_.run, kReturnedLabel, kOnValue, now);
  }
  row_.changed = std::max(now_milliseconds(), row_.changed + 1);
  row_.points = 0;
  row_.events = 0;
  for (const auto& state : states_) {
    row_.events += state->reached.number;
    // Of what is not read again only the number of its events is known.
    if (!state->stored.is_void) row_.points += state->points > 0 ? state->points : state->reached.number;
  }
  hold_.pending().run(row_);
}

void MovingRun::sent() {
  moved_.clear();
  if (touched_) returns_ = false;
  touched_ = false;
}

}  // namespace osler::store
