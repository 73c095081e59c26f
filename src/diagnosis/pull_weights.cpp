// Looking up learned weights.
#include "diagnosis/pull_weights.h"

#include <algorithm>

namespace osler {

Pull weighted(std::string_view cause, const Pull& pull) {
  const std::span<const LearnedPull> rows = learned_pulls();
  const auto learned = std::find_if(rows.begin(), rows.end(), [&](const LearnedPull& row) {
    return row.cause == cause && row.finding == pull.finding;
  });
  if (learned == rows.end()) return pull;
  return {pull.finding, learned->if_found, learned->if_absent, pull.why};
}

}  // namespace osler
