// Reading runs: bytes from files or a stream, through a reader, into a sink.
#include "osler/formats/read.h"

#include <algorithm>

#include "formats/claim.h"

namespace osler {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// Passes events on and counts them.
class CountingSink final : public EventSink {
 public:
  explicit CountingSink(EventSink& inner) : inner_(inner) {}

  SeriesId series(std::string_view name) override { return inner_.series(name); }
  void add(const Event& event) override {
    ++events;
    inner_.add(event);
  }
  void add(Mark mark) override { inner_.add(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { inner_.config(key, value); }

  std::uint64_t events = 0;

 private:
  EventSink& inner_;
};

/// Everything that reading one run has in common over its files.
class Reading {
 public:
  Reading(EventSink& sink, DamageReport& damage, const ReadOptions& options)
      : sink_(sink), damage_(damage), options_(options), buffer_(kBufferBytes) {}

  /// Reads a stream to its end. `format` may be null, then the first bytes are sniffed.
  void stream(ReadableFile& file, const std::filesystem::path& path, const Format* format) {
    DamageReport damage;
    const auto read = bytes(file, path, format, damage);
    damage.name_source(path.string());
    damage_.merge(damage);
    if (!read) fail(path, read.error());
  }

  /// What stopped a file from being read to its end: damage as long as the run has anything, else the answer.
  void fail(const std::filesystem::path& path, const Error& error) {
    damage_.add({path.string(), read_.bytes_read - file_start_, 0, error.message, 0});
    if (!first_error_) first_error_ = error.context.empty() ? Error{error.code, error.message, path.string()} : error;
  }

  void expect(std::uint64_t bytes) { read_.bytes_total += bytes; }

  [[nodiscard]] Result<void> outcome(const std::string& name) const {
    if (sink_.events > 0) return {};
    if (first_error_) return *first_error_;
    const std::string what = used_ == nullptr ? "" : " (read as " + std::string(used_->id) + ")";
    return Error{ErrorCode::not_found, "no numbers were found in it" + what, name};
  }

  [[nodiscard]] const Format* used() const { return used_; }

 private:
  Result<void> bytes(ReadableFile& file, const std::filesystem::path& path, const Format* format,
                     DamageReport& damage) {
    file_start_ = read_.bytes_read;
    auto length = fill(file, format == nullptr ? kPeekBytes : 1);
    if (!length) return length.error();
    if (format == nullptr) {
      const std::string_view head(reinterpret_cast<const char*>(buffer_.data()), std::min(*length, kPeekBytes));
      const Peek peek{path, head, *length < kPeekBytes};
      format = claim(peek).format;
      if (format == nullptr) return unclaimed(peek);
    }
    if (used_ == nullptr || used_->part == Part::configuration) used_ = format;
    const std::unique_ptr<Reader> reader = format->open(path);
    while (*length > 0 && !options_.stop.stop_requested()) {
      read_.bytes_read += *length;
      const auto fed = reader->feed(std::span(buffer_).first(*length), sink_, damage);
      if (!fed) return fed.error();
      read_.events = sink_.events;
      if (options_.progress) options_.progress(read_);
      length = file.read(buffer_);
      if (!length) {
        // The file broke off, but what the reader has is good.
        const auto finished = reader->finish(sink_, damage);
        if (!finished) return finished.error();
        return length.error();
      }
    }
    return reader->finish(sink_, damage);
  }

  /// Reads until the buffer holds `wanted` bytes or the input ends.
  Result<std::size_t> fill(ReadableFile& file, std::size_t wanted) {
    std::size_t filled = 0;
    while (filled < wanted) {
      const auto length = file.read(std::span(buffer_).subspan(filled));
      if (!length) return length.error();
      if (*length == 0) break;
      filled += *length;
    }
    return filled;
  }

  CountingSink sink_;
  DamageReport& damage_;
  const ReadOptions& options_;
  std::vector<std::byte> buffer_;
  ReadProgress read_;
  std::uint64_t file_start_ = 0;
  std::optional<Error> first_error_;
  const Format* used_ = nullptr;
};

void read_files(FileSystem& files, const RunSource& source, Reading& reading) {
  for (const SourceFile& file : source.files) {
    if (const auto info = files.info(file.path); info && info->kind == FileKind::regular) {
      reading.expect(info->size_bytes);
    }
  }
  for (const SourceFile& file : source.files) {
    const auto open = files.open_read(file.path == "-" ? "/dev/stdin" : file.path);
    if (!open) {
      reading.fail(file.path, open.error());
      continue;
    }
    reading.stream(**open, file.path, file.format);
  }
}

void describe_run(Run& run, const std::string& name, const Reading& reading) {
  run.name = name;
  if (reading.used() != nullptr) run.format = reading.used()->id;
}

}  // namespace

Result<void> read_events(FileSystem& files, const RunSource& source, EventSink& sink, DamageReport& damage,
                         const ReadOptions& options) {
  Reading reading(sink, damage, options);
  read_files(files, source, reading);
  return reading.outcome(source.name);
}

Result<Run> read_run(FileSystem& files, const RunSource& source, const ReadOptions& options) {
  Run run(options.limits);
  Reading reading(run, run.damage, options);
  read_files(files, source, reading);
  const auto outcome = reading.outcome(source.name);
  if (!outcome) return outcome.error();
  describe_run(run, source.name, reading);
  for (const SourceFile& file : source.files) run.sources.push_back(file.path.string());
  return run;
}

Result<Run> read_stream(ReadableFile& stream, const std::string& name, const ReadOptions& options) {
  const Format* format = nullptr;
  if (!options.format.empty()) {
    const auto named = format_by_name(options.format);
    if (!named) return named.error();
    format = *named;
  }
  Run run(options.limits);
  Reading reading(run, run.damage, options);
  reading.stream(stream, name, format);
  const auto outcome = reading.outcome(name);
  if (!outcome) return outcome.error();
  describe_run(run, name, reading);
  run.sources.push_back(name);
  return run;
}

}  // namespace osler
