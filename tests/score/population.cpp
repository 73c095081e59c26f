// Trainings with planted faults as subjects.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include "osler/formats/read.h"
#include "score/label.h"
#include "score/subject.h"

namespace osler::score {
namespace {

/// A log that is part of a pack.
class PackedLog final : public ReadableFile {
 public:
  explicit PackedLog(const std::string& text) : text_(text) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size() - at_);
    std::memcpy(buffer.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }
  Result<void> seek(std::uint64_t offset) override {
    at_ = std::min<std::size_t>(offset, text_.size());
    return {};
  }
  [[nodiscard]] Result<FileInfo> info() const override {
    FileInfo info;
    info.size_bytes = text_.size();
    return info;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

Result<std::vector<Run>> read_packed(const std::string& text, const std::string& name) {
  PackedLog log(text);
  Result<Run> run = read_stream(log, name);
  if (!run) return run.error();
  std::vector<Run> runs;
  runs.push_back(std::move(*run));
  return runs;
}

/// The step, as the training counts it, at which the first fault shows; nothing when it was there from the start, since
/// then nobody knows when its effect becomes one.
std::optional<double> seen_from(const nlohmann::json& meta) {
  std::optional<double> first;
  for (const nlohmann::json& fault : meta.value("faults", nlohmann::json::array())) {
    const double step = fault.value("seen_from_step", 0.0);
    if (step > 0 && (!first || step < *first)) first = step;
  }
  return first;
}

using Load = std::function<Result<std::vector<Run>>()>;

Subject to_subject(const nlohmann::json& meta, Load read) {
  Subject subject;
  subject.source = Source::population;
  apply_population_label(meta, subject);
  const std::optional<double> since = subject.truth.healthy ? std::nullopt : seen_from(meta);
  const double steps = std::max(1.0, meta.value("steps", 1.0));
  subject.load = [read = std::move(read), since, steps](Subject& self) {
    Result<std::vector<Run>> runs = read();
    if (runs && runs->size() == 1 && since) {
      // A log by epochs counts in its own unit.
      const StepRange range = runs->front().steps();
      self.truth.begins = beginning(*since / steps * static_cast<double>(range.last), range);
    }
    return runs;
  };
  return subject;
}

}  // namespace

Result<std::vector<Subject>> population_subjects(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<Subject> subjects;
  if (!fs::is_directory(path)) {
    const Result<void> read = each_record(path, [&](const nlohmann::json& record) {
      const auto log = std::make_shared<const std::string>(record.at("log").get<std::string>());
      const std::string name = record.at("meta").at("file").get<std::string>();
      subjects.push_back(to_subject(record.at("meta"), [log, name] { return read_packed(*log, name); }));
    });
    if (!read) return read.error();
    return subjects;
  }
  const Result<void> read = each_record((fs::path(path) / "meta.jsonl").string(), [&](const nlohmann::json& meta) {
    const fs::path log =
        fs::path(path) / "runs" / meta.at("id").get<std::string>() / meta.at("file").get<std::string>();
    subjects.push_back(to_subject(meta, [log] { return read_runs(log.string()); }));
  });
  if (!read) return read.error();
  return subjects;
}

}  // namespace osler::score
