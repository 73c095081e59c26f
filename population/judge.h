// What a training lost by its fault, measured against its repaired twin.
#pragma once

#include <string_view>

#include "history.h"
#include "journal.h"
#include "recipe.h"

namespace osler::population {

/// Where on the share of progress that was lost a run counts as sick, and below which as healthy.
inline constexpr double kSickFrom = 0.10;
inline constexpr double kHealthyBelow = 0.03;

/// What was measured of a run.
struct Judgement {
  std::string_view verdict = "undecidable";
  std::string_view reason;
  double harm = 0;         ///< Share of the twin's progress that was lost; the larger of the next two.
  double harm_loss = 0;    ///< By the loss on clean data.
  double harm_metric = 0;  ///< By the metric on clean data.
  double misled = 0;       ///< How far the logged validation is from the truth, as a share of the progress.
  double drift = 0;        ///< Share of its own best progress that the run lost by its end.
};

/// What is known of a planted fault before it is measured.
struct Claim {
  bool misleads = false;  ///< The log is wrong, not the training.
  bool by_fact = false;   ///< Wrong even where it does no harm: never healthy.
};

/// Judges a run with a fault by its twin.
Judgement judge_planted(const Recipe& recipe, const History& run, const History& twin, Claim claim);
/// Judges a healthy draw by itself, and by probes at other rates where there are any.
Judgement judge_healthy(const Recipe& recipe, const History& run, const std::vector<History>& probes);
/// Whether the curves alone show that something is wrong: not finite, stuck, risen, apart, or unfinished.
bool curve_shows(const Recipe& recipe, const History& run, const Style& style);

}  // namespace osler::population
