// Floors: how good the score must be, kept in a file, so that a change that makes Osler worse does not pass unseen.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "score/tally.h"

namespace osler::score {

/// The figures that floors are set for, by their ids: {"found": 0.95, "false_alarms": 0.01, ...}.
[[nodiscard]] nlohmann::json floor_figures(const Tally& counts);

/// Every figure that falls short of its floor, one sentence each. What should be low (false alarms, notes on healthy
/// runs, logs not read, calibration errors) must not be higher, all others not lower. Sources and figures without a
/// floor, and those that were not measured, are not checked.
[[nodiscard]] Result<std::vector<std::string>> shortfalls(const nlohmann::json& measured, const std::string& path);

}  // namespace osler::score
