// The words a report uses for degrees and kinds.
#include "report/words.h"

#include <cmath>

namespace osler::layout {

std::string_view in_words(double confidence) {
  if (confidence >= 0.95) return "almost certain";
  if (confidence >= 0.85) return "very likely";
  if (confidence >= 0.70) return "likely";
  if (confidence >= 0.50) return "more likely than not";
  return "possible";
}

std::string_view in_words(Need need) {
  switch (need) {
    case Need::curve:
      return "scalars from any log";
    case Need::layer:
      return "statistics per layer";
    case Need::act:
      return "statistics of activations";
    case Need::batch:
      return "the data itself";
    case Need::live:
      return "hooks in the training process";
    case Need::probe:
      break;
  }
  return "an active experiment";
}

std::string_view in_words(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::restart:
      return "restart";
    case Mark::Kind::finished:
      return "finished";
    case Mark::Kind::crashed:
      return "crashed";
    case Mark::Kind::note:
      break;
  }
  return "note";
}

std::string_view strength(double log_odds) {
  const double size = std::fabs(log_odds);
  return size >= 2 ? "strongly" : size >= 1 ? "clearly" : "slightly";
}

}  // namespace osler::layout
