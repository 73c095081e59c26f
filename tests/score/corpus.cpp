// Reads the labels of a corpus of real logs.
#include <filesystem>
#include <span>
#include <sstream>

#include "formats/unpacker.h"
#include "osler/formats/read.h"
#include "score/label.h"
#include "score/subject.h"

namespace osler::score {
namespace {

constexpr std::uint64_t kLabelBytes = 512 * 1024 * 1024;

Subject to_subject(const nlohmann::json& record, const std::filesystem::path& folder,
                   const std::filesystem::path& unpacked) {
  Subject subject;
  subject.source = Source::corpus;
  subject.part = folder.filename().string();
  subject.name = record.at("id").get<std::string>();
  const std::string origin = record.at("source").get<std::string>();
  subject.family = origin.substr(0, origin.find(':'));
  apply_public_label(record, subject);
  const std::string file = record.at("file").get<std::string>();
  const std::filesystem::path beside = folder / file;
  const std::optional<double> since = record.contains("since") && record.at("since").is_number()
                                          ? std::optional(record.at("since").get<double>())
                                          : std::nullopt;
  subject.load = [path = std::filesystem::exists(beside) ? beside : unpacked / file, since](Subject& self) {
    Result<std::vector<Run>> runs = read_runs(path.string());
    if (runs && runs->size() == 1 && since) self.truth.begins = beginning(*since, runs->front().steps());
    return runs;
  };
  return subject;
}

/// What is compressed, as the population's sample is, is read as well.
Result<std::string> unpacked_text(const std::string& bytes) {
  const Packing packing = packing_of(bytes);
  if (packing == Packing::none) return bytes;
  std::string text;
  const Result<void> done = make_unpacker(packing)->feed(
      std::as_bytes(std::span(bytes)),
      [&](std::span<const std::byte> some) { text.append(reinterpret_cast<const char*>(some.data()), some.size()); });
  if (!done) return done.error();
  return text;
}

}  // namespace

Result<std::vector<Run>> read_runs(const std::string& path) {
  FileSystem& files = real_file_system();
  Result<std::vector<RunSource>> sources = discover(files, path);
  if (!sources) return sources.error();
  std::vector<Run> runs;
  std::optional<Error> failure;
  for (const RunSource& source : *sources) {
    Result<Run> run = read_run(files, source);
    if (run) {
      runs.push_back(std::move(*run));
    } else {
      failure = run.error();
    }
  }
  if (runs.empty() && failure) return *failure;
  return runs;
}

Result<void> each_record(const std::string& path, const std::function<void(const nlohmann::json& record)>& take) {
  const Result<std::string> bytes = read_whole(real_file_system(), path, kLabelBytes);
  if (!bytes) return bytes.error();
  const Result<std::string> text = unpacked_text(*bytes);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      take(nlohmann::json::parse(line));
    } catch (const nlohmann::json::exception& error) {
      return Error{ErrorCode::corrupt, error.what(), path + ":" + std::to_string(number)};
    }
  }
  return {};
}

Result<std::vector<Subject>> corpus_subjects(const std::string& folder, const std::string& unpacked) {
  const std::filesystem::path place = std::filesystem::path(folder).lexically_normal();
  std::vector<Subject> subjects;
  const Result<void> read = each_record((place / "labels.jsonl").string(), [&](const nlohmann::json& record) {
    subjects.push_back(to_subject(record, place, unpacked));
  });
  if (!read) return read.error();
  return subjects;
}

}  // namespace osler::score
