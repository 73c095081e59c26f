// Pull weights: how far each finding moves the odds of each cause, learned where labelled runs were seen.
#pragma once

#include <span>
#include <string_view>

#include "osler/diagnosis/catalogue.h"

namespace osler {

/// What the generated suite made of one pull. `osler_score --learn` writes the table anew. A cause's file states what
/// an expert holds; the learned weights lie between that and what was counted, the nearer to the counts the more runs
/// there were, and never on the other side of zero.
struct LearnedPull {
  std::string_view cause;
  std::string_view finding;
  double if_found = 0;
  double if_absent = 0;
  int runs = 0;  ///< labelled runs with this cause
};

/// All rows, by cause and finding.
[[nodiscard]] std::span<const LearnedPull> learned_pulls();

/// The pull with its learned weights; as the cause's file states it where nothing was learned.
[[nodiscard]] Pull weighted(std::string_view cause, const Pull& pull);

}  // namespace osler
