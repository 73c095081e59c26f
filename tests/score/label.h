// Labels of real and planted runs: what they say, in the terms of the scorer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "score/subject.h"

namespace osler::score {

/// Fills in the label of a public log. Both kinds of label are understood: label/accept/tolerate, and
/// verdict/findings/also_ok/causes. What is true as well counts as right where the run is sick, and excuses nothing
/// where it is healthy.
void apply_public_label(const nlohmann::json& record, Subject& subject);

/// Fills in the label of a training of the population from its meta data.
void apply_population_label(const nlohmann::json& meta, Subject& subject);

/// Adds the ids that say the same of a run that is judged by its reward: labels older than those findings name the
/// loss.
[[nodiscard]] std::vector<std::string> with_equivalents(const std::vector<std::string>& ids);

/// Where a trouble that truly began at `since` may be said to begin: a tenth of the run to either side. Nothing when
/// the run does not reach that far, because the label then counts in another unit.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> beginning(double since, const StepRange& steps);

}  // namespace osler::score
