// Reads the labels of a corpus of real logs.
#include <nlohmann/json.hpp>
#include <sstream>

#include "osler/formats/read.h"
#include "score/subject.h"

namespace osler::score {
namespace {

constexpr std::uint64_t kLabelBytes = 64 * 1024 * 1024;

std::vector<std::string> strings(const nlohmann::json& record, const char* key) {
  return record.value(key, std::vector<std::string>{});
}

Subject to_subject(const nlohmann::json& record, const std::string& folder) {
  Subject subject;
  subject.source = Source::corpus;
  subject.name = record.at("id").get<std::string>();
  const std::string origin = record.at("source").get<std::string>();
  subject.family = origin.substr(0, origin.find(':'));
  subject.label = record.at("label").get<std::string>();
  subject.decided = subject.label != "undecidable";
  subject.certain = record.value("confidence", "low") != "low";
  subject.truth.healthy = subject.label == "healthy";
  subject.truth.accept = strings(record, "accept");
  subject.truth.tolerate = strings(record, "tolerate");
  if (!subject.truth.accept.empty()) subject.truth.finding = subject.truth.accept.front();
  // The label "nan" accepts both times without saying which; its logs all hold finite losses first, as its reasons say.
  if (subject.label == "nan") subject.truth.finding = "loss-nonfinite-later";
  subject.load = [path = folder + "/" + record.at("file").get<std::string>()](Subject&) { return read_runs(path); };
  return subject;
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

Result<std::vector<Subject>> corpus_subjects(const std::string& folder) {
  const std::string path = folder + "/labels.jsonl";
  const Result<std::string> text = read_whole(real_file_system(), path, kLabelBytes);
  if (!text) return text.error();
  std::vector<Subject> subjects;
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      subjects.push_back(to_subject(nlohmann::json::parse(line), folder));
    } catch (const nlohmann::json::exception& error) {
      return Error{ErrorCode::corrupt, error.what(), path + ":" + std::to_string(number)};
    }
  }
  return subjects;
}

}  // namespace osler::score
