// Compares a score with its floors.
#include "score/floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "osler/base/file_system.h"

namespace osler::score {
namespace {

constexpr std::uint64_t kFloorBytes = 1024 * 1024;
constexpr double kSlack = 1e-9;  // figures are written with all their digits

}  // namespace

nlohmann::json floor_figures(const Tally& counts) {
  const GroupTally& all = counts.all;
  double least = 1.0;
  for (const auto& [id, finding] : counts.by_finding) {
    if (finding.expected > 0) least = std::min(least, share(finding.found, finding.expected));
  }
  return {{"recall", share(all.hits, all.failed)},
          {"least_recall_of_a_finding", least},
          {"false_alarm_rate", all.healthy == 0 ? 0.0 : share(all.false_alarms, all.healthy)},
          {"cause_first", share(all.cause_first, all.causes_known)},
          {"cause_in_three", share(all.cause_in_three, all.causes_known)}};
}

Result<std::vector<std::string>> shortfalls(const nlohmann::json& measured, const std::string& path) {
  const Result<std::string> text = read_whole(real_file_system(), path, kFloorBytes);
  if (!text) return text.error();
  std::vector<std::string> found;
  try {
    const nlohmann::json floors = nlohmann::json::parse(*text);
    for (const auto& [source, figures] : floors.items()) {
      if (!measured.contains(source)) continue;
      for (const auto& [name, floor] : figures.items()) {
        const double value = measured.at(source).at(name).get<double>();
        const double limit = floor.get<double>();
        const bool at_most = name == "false_alarm_rate";
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
