// Compares a score with its floors.
#include "score/floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "osler/base/file_system.h"

namespace osler::score {
namespace {

constexpr std::uint64_t kFloorBytes = 1024 * 1024;
constexpr double kSlack = 1e-9;  // figures are written with all their digits

bool low_is_good(const std::string& id) {
  static const std::vector<std::string> kLow = {
      "false_alarms", "healthy_with_a_note",        "unread",
      "unjudged",     "findings_calibration_error", "causes_calibration_error"};
  return std::find(kLow.begin(), kLow.end(), id) != kLow.end();
}

}  // namespace

nlohmann::json floor_figures(const Tally& counts) {
  nlohmann::json values = {{"findings_calibration_error", calibration_error(counts.findings_reliability)},
                           {"causes_calibration_error", calibration_error(counts.causes_reliability)}};
  for (const Figure& figure : figures(counts.all)) values[figure.id] = share(figure.part, figure.whole);
  return values;
}

Result<std::vector<std::string>> shortfalls(const nlohmann::json& measured, const std::string& path) {
  const Result<std::string> text = read_whole(real_file_system(), path, kFloorBytes);
  if (!text) return text.error();
  std::vector<std::string> found;
  try {
    const nlohmann::json floors = nlohmann::json::parse(*text);
    for (const auto& [source, limits] : floors.items()) {
      if (!measured.contains(source)) continue;
      for (const auto& [name, floor] : limits.items()) {
        if (!measured.at(source).contains(name)) continue;
        const double value = measured.at(source).at(name).get<double>();
        const double limit = floor.get<double>();
        const bool at_most = low_is_good(name);
        if (at_most ? value <= limit + kSlack : value >= limit - kSlack) continue;
        found.push_back(
            fmt::format("{} {} is {:.4f}, {} {:.4f}", source, name, value, at_most ? "more than" : "less than", limit));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::corrupt, error.what(), path};
  }
  return found;
}

}  // namespace osler::score
