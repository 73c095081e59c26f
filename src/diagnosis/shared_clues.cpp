// Weighing facts that speak for or against several causes.
#include "diagnosis/shared_clues.h"

#include <algorithm>
#include <span>

#include "diagnosis/facts.h"
#include "diagnosis/layers.h"
#include "diagnosis/wording.h"
#include "signal/robust.h"

namespace osler {

void weigh_break(const Patient& patient, double if_announced, double if_sudden, std::vector<Clue>& clues) {
  const auto broke = break_of(patient);
  if (!broke) return;
  if (broke->announced()) {
    clues.push_back({if_announced, "the loss had climbed from " + number(broke->usual) + " to " +
                                       number(broke->before) + " before it broke"});
  } else if (broke->sudden()) {
    clues.push_back({if_sudden, "the loss was ordinary right before it broke (" + number(broke->before) +
                                    "): nothing had run away"});
  }
}

void weigh_ordinary_norms(const Patient& patient, const Verdicts& verdicts, double weight, std::vector<Clue>& clues) {
  if (!norms_ordinary(patient, verdicts)) return;
  clues.push_back(
      {weight, "the gradient norm has an ordinary size, " + number(*usual_norm(patient)) + " in the median"});
}

void weigh_silent_memorising(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues) {
  if (verdicts.found("overfitting") != nullptr || verdicts.found("overconfidence") != nullptr) return;
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (validation == nullptr || !training_goes_on(patient, verdicts) || still_falls(*validation)) return;
  clues.push_back({0.8, fall_in_words(*training) + " while " + validation->name + " does not: the gap grows"});
}

void weigh_still_weights(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues) {
  constexpr double kMostOfTheRun = 0.3;
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->spent_share > kMostOfTheRun) {
    clues.push_back({-1.5, "the learning rate has been below 5 % of its peak since " + at_step(schedule->spent_step) +
                               ": the weights hardly move"});
  } else if (patient.training() != nullptr && !training_learned(patient) &&
             verdicts.found("loss-stuck-from-start") == nullptr) {
    clues.push_back({-1.5, patient.training()->name + " shows no progress either: the weights may not move"});
  }
}

void weigh_flat_training(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues) {
  const Observation* flat = verdicts.found("loss-plateau");
  if (flat == nullptr || qualifier(flat, "series").empty() || on_validation(patient, *flat)) return;
  for (const std::string_view id : {"validation-frozen", "overfitting", "overconfidence", "metric-contradicts-loss",
                                    "validation-better-than-training", "epoch-sawtooth"}) {
    if (verdicts.found(id) != nullptr) return;
  }
  clues.push_back({-2.0, "what stands still is the training loss itself"});
}

namespace {

/// In words: most of the training set is still answered wrongly, at a loss that is not far down. Nothing where no
/// training accuracy is logged.
std::optional<std::string> training_set_unknown(const Patient& patient) {
  constexpr double kMost = 0.5;
  constexpr double kPerCent = 100;
  const Series* accuracy = patient.roles().first(Role::train_accuracy);
  const Reading* training = patient.training();
  if (accuracy == nullptr || accuracy->summary().empty() || training == nullptr || training->curve.empty()) return {};
  const double scale = accuracy->summary().total()->max > 1.5 ? kPerCent : 1;
  const signal::Curve curve = layer_curve(*accuracy);
  if (curve.empty()) return {};
  const double late = signal::median(std::span(curve.value).subspan(curve.size() / 3 * 2)) / scale;
  if (late >= kMost || !(training->end > kMost * training->start)) return {};
  return "only " + per_cent(late) + " of the training set is answered rightly: it is not known by heart";
}

}  // namespace

std::optional<std::string> no_memorising(const Patient& patient, const Verdicts& verdicts) {
  if (auto unknown = training_set_unknown(patient)) return unknown;
  for (const std::string_view id : {"overfitting", "overconfidence"}) {
    if (verdicts.found(id) != nullptr) return std::nullopt;
  }
  const Reading* validation = patient.validation();
  if (validation != nullptr && !validation->curve.empty() && still_falls(*validation)) {
    return fall_in_words(*validation) + ", so nothing is lost on new data";
  }
  const Reading* training = patient.training();
  const bool over = training != nullptr && !training->curve.empty() && !training_goes_on(patient, verdicts);
  if (over && !fits_training_set(patient)) {
    return training->name + " has stopped at " + number(training->shown(training->end)) +
           " too: nothing more is being memorised";
  }
  return std::nullopt;
}

}  // namespace osler
