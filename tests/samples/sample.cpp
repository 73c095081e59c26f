// Finding samples and describing what is read from them.
#include "samples/sample.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "osler/formats/read.h"
#include "recording_sink.h"

namespace osler::testing {
namespace {

namespace fs = std::filesystem;

nlohmann::json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

nlohmann::json point(const Event& event) {
  return {event.step, number(event.value)};
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".h" || path.filename().string().starts_with('.');
}

std::vector<RunSource> sources_of(const Sample& sample) {
  // Configuration is read along with a run and never found alone.
  if (const Format* format = find_format(sample.format); format != nullptr && format->part == Part::configuration) {
    return {{sample.path.string(), {{sample.path, format, {}}}}};
  }
  const auto found = discover(real_file_system(), sample.path);
  if (!found) throw std::runtime_error(describe(found.error()));
  return *found;
}

nlohmann::json describe_run(const RunSource& source) {
  RecordingSink sink;
  DamageReport damage;
  const auto read = read_events(real_file_system(), source, sink, damage);

  nlohmann::json description;
  description["format"] = source.files.back().format->id;
  description["files"] = source.files.size();
  if (!read) description["error"] = to_string(read.error().code);
  if (damage.total() > 0) description["damage"] = damage.total();
  if (!sink.histograms.empty()) description["distributions"] = sink.histograms.size();
  for (const auto& [key, value] : sink.configuration) description["configuration"][key] = value;
  for (SeriesId id = 0; id < sink.names.size(); ++id) {
    nlohmann::json series;
    std::size_t points = 0;
    for (const Event& event : sink.events) {
      if (event.series != id) continue;
      if (points++ == 0) series["first"] = point(event);
      series["last"] = point(event);
    }
    series["points"] = points;
    if (points > 0) description["series"][sink.names[id]] = series;
  }
  return description;
}

}  // namespace

void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.path.string();
}

std::vector<Sample> all_samples() {
  std::vector<Sample> samples;
  for (const fs::directory_entry& folder : fs::directory_iterator(fs::path(OSLER_SOURCE_DIR) / "tests/samples")) {
    if (!folder.is_directory()) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().string().ends_with(".expected.json") || is_source(entry.path())) continue;
      samples.push_back({folder.path().filename().string(), entry.path()});
    }
  }
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.path < b.path; });
  return samples;
}

std::vector<fs::path> files_of(const Sample& sample) {
  if (fs::is_regular_file(sample.path)) return {sample.path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(sample.path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

nlohmann::json describe_sample(const Sample& sample) {
  const std::vector<RunSource> sources = sources_of(sample);
  nlohmann::json description;
  if (sources.size() == 1) {
    description = describe_run(sources.front());
  } else {
    description["format"] = sources.front().files.back().format->id;
    for (const RunSource& source : sources) description["runs"][source.name] = describe_run(source);
  }
  // Names may be in any encoding, JSON may not.
  return nlohmann::json::parse(description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace osler::testing
