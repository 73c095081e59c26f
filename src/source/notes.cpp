// Notes that a person attaches to a run: inside a run file, or in a file beside any other log.
#include "osler/source/notes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>

#include "osler/runfile/writer.h"

namespace osler {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostBytes = 4 << 20;

std::string line_of(const Mark& note) {
  Json json = {{"step", note.step}, {"text", note.text}};
  if (std::isfinite(note.wall_time)) json["time"] = note.wall_time;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Mark> note_of(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("text") || !json["text"].is_string()) return std::nullopt;
  Mark note{Mark::Kind::note, 0, kNoTime, json["text"].get<std::string>()};
  if (json.contains("step") && json["step"].is_number_integer()) note.step = json["step"].get<std::int64_t>();
  if (json.contains("time") && json["time"].is_number()) note.wall_time = json["time"].get<double>();
  return note;
}

/// A writer that lives, or died, leaves a write-ahead log. A second writer would spoil the first one's next commit.
bool may_be_written(const std::filesystem::path& run_file) {
  std::error_code problem;
  return std::filesystem::exists(run_file.string() + "-wal", problem);
}

/// Whether the file ends within a line, as a full disk or a kill leaves it.
Result<bool> ends_within_a_line(FileSystem& files, const std::filesystem::path& path, std::uint64_t length) {
  if (length == 0) return false;
  auto file = files.open_read(path);
  if (!file) return file.error();
  if (const auto moved = (*file)->seek(length - 1); !moved) return moved.error();
  std::array<std::byte, 1> last{};
  const auto read = (*file)->read(last);
  if (!read) return read.error();
  return *read == 1 && last[0] != std::byte{'\n'};
}

/// Adds a line. When it cannot be written whole the file is as before.
Result<void> append(const std::filesystem::path& path, const std::string& line) {
  FileSystem& files = real_file_system();
  const auto before = files.info(path);
  const std::uint64_t length = before ? before->size_bytes : 0;
  const auto within = ends_within_a_line(files, path, length);
  if (!within) return within.error();
  auto file = files.open_write(path, WriteMode::append);
  if (!file) return file.error();
  const std::string bytes = *within ? "\n" + line : line;
  auto written = (*file)->append(std::as_bytes(std::span(bytes)));
  if (written) written = (*file)->sync();
  if (!written) {
    std::error_code ignored;
    std::filesystem::resize_file(path, length, ignored);
  }
  return written;
}

}  // namespace

std::filesystem::path notes_file(const Source& source) {
  if (!source.stream.empty()) return {};
  if (!source.run_file.empty()) return source.run_file + std::string(kNotesEnding);
  if (source.log.files.empty()) return {};
  return source.log.files.front().path.string() + std::string(kNotesEnding);
}

Result<std::filesystem::path> add_note(const Source& source, const Mark& note) {
  const std::filesystem::path beside = notes_file(source);
  if (beside.empty()) return Error{ErrorCode::unsupported, "a pipe has no place for a note", source.name};
  if (source.run_file.empty() || may_be_written(source.run_file)) {
    const auto written = append(beside, line_of(note));
    if (!written) return written.error();
    return beside;
  }
  auto writer = RunFileWriter::open(source.run_file);
  if (!writer) return writer.error();
  writer->add(note);
  if (const auto closed = writer->close(); !closed) return closed.error();
  return std::filesystem::path(source.run_file);
}

void read_notes(FileSystem& files, const Source& source, Run& run) {
  const std::filesystem::path path = notes_file(source);
  if (path.empty() || !files.info(path)) return;
  const auto text = read_whole(files, path, kMostBytes);
  if (!text) {
    run.damage.add({path.string(), 0, 0, describe(text.error()), 0});
    return;
  }
  std::size_t at = 0;
  std::uint64_t number = 0;
  while (at < text->size()) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    ++number;
    if (auto note = note_of(line)) {
      run.add(std::move(*note));
    } else if (line.find_first_not_of(" \r\t") != std::string::npos) {
      run.damage.add({path.string(), at, number, "this line is no note", line.size()});
    }
    at = end + 1;
  }
}

}  // namespace osler
