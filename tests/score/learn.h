// Learns the weights of causes from scored runs, and measures on families left out whether that helps.
#pragma once

#include <string>
#include <vector>

#include "score/subject.h"

namespace osler::score {

/// How much the runs are believed against the experts.
struct LearnOptions {
  double expert = 20;  ///< how firmly a weight is drawn to what its cause's file states
  int rounds = 300;    ///< steps of gradient ascent
};

/// One learned pull.
struct LearnedWeight {
  std::string cause;
  std::string finding;
  double if_found = 0;
  double if_absent = 0;
  double stated_if_found = 0;  ///< what the cause's file states
  double stated_if_absent = 0;
  std::size_t runs = 0;  ///< with this cause
};

/// Learns from all failed runs whose cause is known: the weights under which the right causes are the most probable
/// among those reported (softmax regression), drawn to what the causes' files state and kept on its side of zero.
/// Counting findings with and without each cause, as naive Bayes does, was tried and named the right cause less often
/// for families left out: findings that come together count twice in it.
[[nodiscard]] std::vector<LearnedWeight> learn(const std::vector<const Outcome*>& outcomes,
                                               const LearnOptions& options);

/// How often the right cause is named.
struct CauseScore {
  std::size_t runs = 0;
  std::size_t first = 0;
  std::size_t in_three = 0;
};

/// The causes weighed anew with weights that were learned from the other families only.
[[nodiscard]] CauseScore cross_validated_causes(const std::vector<const Outcome*>& outcomes,
                                                const LearnOptions& options, std::size_t folds);
/// The causes weighed anew with what their files state.
[[nodiscard]] CauseScore stated_causes(const std::vector<const Outcome*>& outcomes);

/// The file src/diagnosis/pull_weights_table.cpp.
[[nodiscard]] std::string weights_source(const std::vector<LearnedWeight>& weights);

}  // namespace osler::score
