// length-limit-too-short: answers are cut off before they can end.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The longest answer that is allowed is shorter than what the model needs. What is cut off cannot be right, so all answers
fail alike, whatever they say.

## How it shows
Most completions are cut off from the very first step on, at a mean length near the limit; the reward is that of failure.

## What else looks like it
A model that lost its end token while it was tuned (at first answers ended), a template that never asks for an end.

## References
- Yu et al. 2025, DAPO: overlong answers and how to shape their reward.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  constexpr double kMost = 0.6;
  constexpr double kFew = 0.3;
  std::vector<Clue> found;
  const auto cut = figure(patient, Role::truncated_share, 3);
  if (!cut) return found;
  const double begin = cut->curve.value.front();
  if (begin > kMost) found.push_back({1.8, per_cent(begin) + " of the answers were cut off from the start"});
  if (begin < kFew) found.push_back({-2.0, "at the start only " + per_cent(begin) + " of the answers were cut off"});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  const auto limit = configured_number(patient, {"max_completion_length", "max_new_tokens", "response_length",
                                                 "max_response_length", "generate_max_len"});
  std::vector<Remedy> list;
  if (limit && *limit > 0) {
    list.push_back(change(
        "Double the longest answer that is allowed: " + number(*limit) + " -> " + number(2 * *limit) + " tokens.",
        "max_completion_length", number(*limit), number(2 * *limit)));
  } else {
    list.push_back(advice("Double the longest answer that is allowed."));
  }
  list.push_back(advice("Leave answers that were cut off out of the loss, or take a little off for the last tokens."));
  return list;
}

}  // namespace

Cause length_limit_too_short() {
  return {"length-limit-too-short",
          "Answers are cut off before they can end",
          kDoc,
          -2.3,
          {{"completions-truncated", 2.6, -1.0, "answers run into the limit"},
           {"reward-without-variance", 0.3, 0, "answers that are cut off fail alike"}},
          "",
          "Sample twenty answers with four times the limit: if most end by themselves, this is it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
