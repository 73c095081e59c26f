// Following files by their size, identity and the bytes around the place read last.
#include "osler/formats/follow.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "formats/claim.h"
#include "formats/pump.h"

namespace osler {
namespace {

// How much of a file's beginning, and of what lies before the reading position, must be unchanged for it to have grown
// rather than to have been written anew.
constexpr std::size_t kHeadBytes = 1024;
constexpr std::size_t kTailBytes = 64;

std::string bytes_at(ReadableFile& file, std::uint64_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  std::size_t filled = 0;
  if (!file.seek(offset)) return {};
  while (filled < length) {
    const auto got = file.read(std::as_writable_bytes(std::span(bytes).subspan(filled)));
    if (!got || *got == 0) break;
    filled += *got;
  }
  bytes.resize(filled);
  return bytes;
}

bool same_file(const FileInfo& a, const FileInfo& b) {
  return a.device == b.device && a.inode == b.inode;
}

bool same_files(const std::vector<SourceFile>& now, const std::vector<SourceFile>& before, std::size_t count) {
  return now.size() >= count && std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(count),
                                           now.begin(), [](const SourceFile& a, const SourceFile& b) {
                                             return a.path == b.path && a.format == b.format && a.run == b.run;
                                           });
}

/// Passes everything on to the run and to somebody who listens.
class Both final : public EventSink {
 public:
  Both(Run& run, EventSink& other) : run_(run), other_(other) {}

  SeriesId series(std::string_view name) override {
    const SeriesId id = other_.series(name);
    const SeriesId in_run = run_.series(name);
    if (id >= ids_.size()) ids_.resize(id + std::size_t{1});
    ids_[id] = in_run;
    return id;
  }
  void add(const Event& event) override {
    other_.add(event);
    Event for_run = event;
    for_run.series = ids_[event.series];
    run_.add(for_run);
  }
  void add(Mark mark) override {
    other_.add(mark);
    run_.add(std::move(mark));
  }
  void config(std::string_view key, std::string_view value) override {
    other_.config(key, value);
    run_.config(key, value);
  }
  void distribution(const Histogram& histogram) override {
    other_.distribution(histogram);
    Histogram for_run = histogram;
    for_run.series = ids_[histogram.series];
    run_.distribution(for_run);
  }

 private:
  Run& run_;
  EventSink& other_;
  std::vector<SeriesId> ids_;  // of the run, by those of the other
};

std::uint64_t points_of(const Run& run) {
  std::uint64_t points = 0;
  for (const Series& series : run.all_series()) points += series.summary().points();
  return points;
}

}  // namespace

Result<FileEdges> file_edges(FileSystem& files, const std::filesystem::path& path, std::uint64_t offset) {
  const auto file = files.open_read(path);
  if (!file) return file.error();
  const auto head = static_cast<std::size_t>(std::min<std::uint64_t>(offset, kHeadBytes));
  const auto tail = static_cast<std::size_t>(std::min<std::uint64_t>(offset, kTailBytes));
  FileEdges edges{bytes_at(**file, 0, head), bytes_at(**file, offset - tail, tail)};
  if (edges.head.size() == head && edges.tail.size() == tail) return edges;
  return Error{ErrorCode::truncated, "has fewer bytes than before", path.string()};
}

/// One file with the place up to which it was read.
struct FollowedRun::File {
  explicit File(SourceFile source) : file(std::move(source)) {}

  SourceFile file;
  std::unique_ptr<ReadableFile> handle;
  std::unique_ptr<Reader> reader;
  std::unique_ptr<EventSink> both;  // the run and whoever listens; empty without one
  FileInfo info;                    // when it was last looked at
  std::uint64_t offset = 0;         // read up to here
  std::string head;
  std::string tail;      // the bytes before `offset`
  bool broken = false;   // its reader has given up
  bool closed = false;   // its reader was finished: anything more means reading anew
  bool shrunk = false;   // found shorter at the last look: being rewritten
  bool counted = false;  // it has given the run something
};

FollowedRun::FollowedRun(RunSource source, ReadOptions options) : options_(std::move(options)), run_(options_.limits) {
  set_source(std::move(source));
}
FollowedRun::~FollowedRun() = default;
FollowedRun::FollowedRun(FollowedRun&&) noexcept = default;
FollowedRun& FollowedRun::operator=(FollowedRun&&) noexcept = default;

void FollowedRun::set_source(RunSource source) {
  const bool grown = !fresh_ && same_files(source.files, source_.files, source_.files.size());
  source_ = std::move(source);
  if (grown) {
    for (std::size_t i = files_.size(); i < source_.files.size(); ++i) files_.emplace_back(source_.files[i]);
  } else {
    fresh_ = true;
  }
  name_run();
}

void FollowedRun::name_run() {
  run_.name = source_.name;
  run_.sources.clear();
  for (const SourceFile& file : source_.files) run_.sources.push_back(file.path.string());
  const auto tells = [](const SourceFile& file) {
    return file.format != nullptr && file.format->part != Part::configuration;
  };
  const auto teller = std::find_if(source_.files.begin(), source_.files.end(), tells);
  if (teller != source_.files.end()) run_.format = teller->format->id;
}

bool FollowedRun::read_new(FileSystem& files) {
  if (fresh_) {
    read_anew(files);
    return true;
  }
  bool changed = false;
  for (File& file : files_) {
    const Change change = look_at(files, file);
    if (change == Change::rewritten) {
      read_anew(files);
      return true;
    }
    changed = changed || change == Change::growth;
  }
  return changed;
}

void FollowedRun::read_anew(FileSystem& files) {
  fresh_ = false;
  run_ = Run(options_.limits);
  name_run();
  files_.clear();
  for (const SourceFile& file : source_.files) files_.emplace_back(file);
  for (File& file : files_) {
    look_at(files, file);
    if (file.counted || file.reader == nullptr) continue;
    // A document is understood only at its end.
    close(file);
    tell_position(file);
  }
}

void FollowedRun::open_reader(File& file) {
  if (file.file.run.empty()) file.reader = file.file.format->open(file.file.path);
  if (listener_ == nullptr) return;
  const auto same = [&](const File& other) { return &other == &file; };
  const auto position = std::find_if(files_.begin(), files_.end(), same) - files_.begin();
  file.both = std::make_unique<Both>(run_, listener_->begin(file.file, static_cast<std::size_t>(position)));
}

void FollowedRun::tell_position(const File& file) {
  if (file.both == nullptr) return;
  const auto same = [&](const File& other) { return &other == &file; };
  const auto position = std::find_if(files_.begin(), files_.end(), same) - files_.begin();
  listener_->read_to(static_cast<std::size_t>(position), file.offset, file.head, file.tail);
}

/// Reads what is new in one file, unless it turns out to have been rewritten.
FollowedRun::Change FollowedRun::look_at(FileSystem& files, File& file) {
  if (!file.file.run.empty()) return look_at_store(files, file);
  const auto info = files.info(file.file.path);
  if (file.handle != nullptr) {
    const bool gone = !info || !same_file(*info, file.info);
    if (gone) {
      // Its last lines may have been written after the last look and before it was renamed.
      const bool more = !file.closed && take_bytes(file);
      if (!info) return more ? Change::growth : Change::none;
      auto successor = files.open_read(file.file.path);
      if (!successor) return more ? Change::growth : Change::none;
      const std::string head = bytes_at(**successor, 0, file.head.size());
      if (head == file.head || file.closed) return Change::rewritten;
      close(file);
      file = File(file.file);
    } else if (info->size_bytes < file.offset) {
      // Whoever rewrites a file in place first empties it; one look later it may be whole again.
      if (!std::exchange(file.shrunk, true)) return Change::none;
      return Change::rewritten;
    } else if (info->size_bytes == file.offset && info->modified_seconds == file.info.modified_seconds) {
      return Change::none;
    } else {
      const bool intact = bytes_at(*file.handle, 0, file.head.size()) == file.head &&
                          bytes_at(*file.handle, file.offset - file.tail.size(), file.tail.size()) == file.tail;
      if (!intact || (file.closed && info->size_bytes > file.offset)) return Change::rewritten;
      if (!file.handle->seek(file.offset)) return Change::none;
    }
  }
  if (!info) return Change::none;
  if (file.handle == nullptr) {
    auto opened = files.open_read(file.file.path);
    if (!opened) {
      run_.damage.add({file.file.path.string(), 0, 0, opened.error().message, 0});
      return Change::none;
    }
    file.handle = std::move(*opened);
    open_reader(file);
  }
  file.info = *info;
  file.shrunk = false;
  if (!take_bytes(file)) return Change::none;
  modified_seconds_ = std::max(modified_seconds_, info->modified_seconds);
  return Change::growth;
}

/// One run of several in a file cannot be read on from where it was left: when the file changed, it is read anew.
FollowedRun::Change FollowedRun::look_at_store(FileSystem& files, File& file) {
  const auto info = files.info(file.file.path);
  if (!info) return Change::none;
  if (file.closed) {
    const bool unchanged = same_file(*info, file.info) && info->size_bytes == file.info.size_bytes &&
                           info->modified_seconds == file.info.modified_seconds;
    return unchanged ? Change::none : Change::rewritten;
  }
  file.info = *info;
  file.closed = true;
  open_reader(file);
  EventSink& sink = file.both != nullptr ? *file.both : static_cast<EventSink&>(run_);
  DamageReport damage;
  const auto read = file.file.format->store->read(files, file.file.path, file.file.run, sink, damage, options_.stop);
  if (!read) damage.add({"", 0, 0, read.error().message, 0});
  damage.name_source(file.file.path.string());
  run_.damage.merge(damage);
  modified_seconds_ = std::max(modified_seconds_, info->modified_seconds);
  return Change::growth;
}

/// Feeds all that can be read now; true when that was anything.
bool FollowedRun::take_bytes(File& file) {
  if (file.broken) return false;
  std::vector<std::byte> buffer(kPumpBufferBytes);
  const std::uint64_t start = file.offset;
  const std::uint64_t points = file.counted ? 0 : points_of(run_);
  EventSink& sink = file.both != nullptr ? *file.both : static_cast<EventSink&>(run_);
  DamageReport damage;
  while (!options_.stop.stop_requested()) {
    const auto length = file.handle->read(buffer);
    if (!length || *length == 0) break;
    const auto bytes = std::span(buffer).first(*length);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (file.head.size() < kHeadBytes) file.head += text.substr(0, kHeadBytes - file.head.size());
    file.tail = text.size() >= kTailBytes ? std::string(text.substr(text.size() - kTailBytes)) : file.tail.append(text);
    if (file.tail.size() > kTailBytes) file.tail.erase(0, file.tail.size() - kTailBytes);
    file.offset += *length;
    if (const auto fed = file.reader->feed(bytes, sink, damage); !fed) {
      damage.add({"", file.offset, 0, fed.error().message, 0});
      file.broken = true;
      break;
    }
    tell_position(file);
    if (options_.progress) options_.progress({file.offset, file.info.size_bytes, 0});
  }
  damage.name_source(file.file.path.string());
  run_.damage.merge(damage);
  file.counted = file.counted || points_of(run_) > points;
  return file.offset > start;
}

void FollowedRun::close(File& file) {
  if (std::exchange(file.closed, true) || file.broken || file.reader == nullptr) return;
  EventSink& sink = file.both != nullptr ? *file.both : static_cast<EventSink&>(run_);
  DamageReport damage;
  if (const auto finished = file.reader->finish(sink, damage); !finished) {
    damage.add({"", file.offset, 0, finished.error().message, 0});
  }
  damage.name_source(file.file.path.string());
  run_.damage.merge(damage);
}

void FollowedRun::finish() {
  for (File& file : files_) close(file);
}

Follower::Follower(FileSystem& files, std::filesystem::path path, ReadOptions options)
    : files_(files), path_(std::move(path)), options_(std::move(options)) {}

Result<void> Follower::search() {
  auto found = survey(files_, path_, options_);
  if (!found) return found.error();
  others_ = std::move(found->others);
  unreadable_ = std::move(found->unreadable);
  const auto run_of = [](const RunSource& source) {
    const SourceFile& file = source.files.back();
    return std::tuple(file.format->run_of(file.path), file.format->id, file.run);
  };
  for (RunSource& source : found->runs) {
    const auto key = run_of(source);
    const auto known =
        std::find_if(runs_.begin(), runs_.end(), [&](const FollowedRun& run) { return run_of(run.source()) == key; });
    // A log whose first lines were taken for another format keeps its place in the list.
    const auto same_path = std::find_if(runs_.begin(), runs_.end(), [&](const FollowedRun& run) {
      const SourceFile& file = run.source().files.back();
      return file.path == source.files.back().path && file.run == source.files.back().run;
    });
    if (known != runs_.end()) {
      known->set_source(std::move(source));
    } else if (same_path != runs_.end()) {
      same_path->set_source(std::move(source));
    } else {
      FollowListener* const listener = choose_ ? choose_(source) : nullptr;
      runs_.emplace_back(std::move(source), options_).listen(listener);
    }
  }
  return {};
}

bool Follower::read_new() {
  bool changed = false;
  for (FollowedRun& run : runs_) changed = run.read_new(files_) || changed;
  return changed;
}

void Follower::finish() {
  for (FollowedRun& run : runs_) run.finish();
}

FollowedStream::FollowedStream(std::string name, const ReadOptions& options, const Format* forced)
    : name_(std::move(name)), options_(options), forced_(forced), run_(options.limits) {}

Result<FollowedStream> FollowedStream::open(const std::string& name, const ReadOptions& options) {
  const Format* forced = nullptr;
  if (!options.format.empty()) {
    const auto named = format_by_name(options.format);
    if (!named) return named.error();
    forced = *named;
  }
  return FollowedStream(name, options, forced);
}

void FollowedStream::start(const Format* format) {
  format_ = format;
  reader_ = format->open(name_);
  run_ = Run(options_.limits);
  run_.name = name_;
  run_.sources = {name_};
  run_.format = format->id;
  both_.reset();
  if (choose_) both_ = std::make_unique<Both>(run_, choose_(std::string(format->id)));
}

EventSink& FollowedStream::sink() {
  return both_ != nullptr ? *both_ : static_cast<EventSink&>(run_);
}

Result<void> FollowedStream::feed(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!head_is_all_) return reader_->feed(bytes, sink(), run_.damage);
  head_ += text;
  head_is_all_ = head_.size() <= kPeekBytes;
  const Peek peek{name_, std::string_view(head_).substr(0, kPeekBytes), head_is_all_};
  const Format* format = forced_ != nullptr ? forced_ : claim(peek).format;
  if (format == nullptr) return head_is_all_ ? Result<void>{} : unclaimed(peek);
  if (format == format_) return reader_->feed(bytes, sink(), run_.damage);
  start(format);
  return reader_->feed(std::as_bytes(std::span(head_)), sink(), run_.damage);
}

Result<void> FollowedStream::finish() {
  if (reader_ == nullptr) return unclaimed({name_, head_, true});
  const auto finished = reader_->finish(sink(), run_.damage);
  if (!finished) run_.damage.add({name_, 0, 0, finished.error().message, 0});
  if (points_of(run_) > 0) return {};
  return Error{ErrorCode::not_found, "no numbers were found in it (read as " + std::string(format_->id) + ")", name_};
}

}  // namespace osler
