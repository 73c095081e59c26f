// loss-too-slow: a steady descent so shallow that it will not get anywhere useful.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/latent.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss falls steadily, without any sign of bending, and has hardly come anywhere: training is still in its first,
straight stretch when it should be in the long tail.

## Signature
A significant falling trend of the training loss, or of the calmer validation loss; the second half falls at least `straight` times as fast as the first (a healthy descent
bends: its second half is far slower) but not `picks_up` times as fast (it is only beginning); and the whole gain is
below `gain_share` of the first level.

## Why it matters
At this rate the budget ends before anything useful is reached. The usual reason is a learning rate far below what the
problem would bear.

## When it is harmless
A run that has only just begun (warm-up), and fine-tuning that has little to gain. A log that continues an earlier one
(its first step lies more than `continued` of its length from 0) shows only the tail and is not judged.

## References
- Smith 2018, A disciplined approach to neural network hyper-parameters: Part 1.
)";

/// Among hundreds of classes a few right answers in a hundred take little off the loss, and are many times chance.
bool far_above_chance(const Patient& patient, double times) {
  const auto classes = class_count(patient);
  const std::vector<LossAndAccuracy> pairs = losses_with_accuracy(patient);  // validation's first
  return classes && !pairs.empty() && pairs.front().share(pairs.front().accuracy->end) * *classes > times;
}

/// Where an earlier launch in the same log began, if this one goes on where that one ended, as a second stage does.
std::optional<double> began_before(const Patient& patient, const std::string& name, double begin) {
  constexpr double kNear = 0.1;  // relative distance of the end of one from the beginning of the next
  const Series* series = patient.run().find(name);
  const auto earlier = series == nullptr ? std::nullopt : series->longest_launch().total();
  if (!earlier || earlier->count < 2 || earlier->first <= begin) return std::nullopt;
  return std::abs(earlier->last - begin) < kNear * begin ? std::optional(earlier->first) : std::nullopt;
}

/// Over a whole training, from its first step, the loss gained hardly anything, on validation data neither.
std::optional<Observation> hardly_moved(const Patient& patient, const Reading& loss, const SettingValues& settings) {
  if (loss.negated || !(loss.start > 0) || loss.size() < settings["fewest_values"] || latent_gives_way(patient)) {
    return std::nullopt;
  }
  // Of losses of single batches the first one is no level to compare with.
  const auto values = std::span(loss.curve.value);
  constexpr double kAlone = 0.4;  // correlation of successive values that swing together
  const bool noisy = loss.noise.sigma > settings["noisy"] * loss.level && loss.size() >= settings["many_values"] &&
                     signal::autocorrelation(values, 1) < kAlone;
  const double begin = noisy ? signal::median(values.first(values.size() / 10)) : loss.start;
  if (!(begin > 0)) return std::nullopt;
  const double start = began_before(patient, loss.name, begin).value_or(begin);
  const double end = noisy ? signal::median(values.last(values.size() / 5)) : loss.end;
  const double left = end / start;
  const Reading* validation = patient.validation();
  // The first evaluation may come after most of the way: training began where both did.
  const bool followed = validation != nullptr && validation->size() >= 3 && validation->start > 0 &&
                        validation->best < settings["left"] * std::max(validation->start, settings["as_high"] * start);
  // Two losses measured apart that agree may have gained a little more.
  const bool both = validation != nullptr && validation->size() >= settings["fewest_evaluations"] &&
                    validation->start > 0 && validation->best > settings["left_of_validation"] * validation->start;
  // What was trained before has little to gain: only one that begins by guessing is known to have all before it.
  const bool guesses =
      patient.domain().domain != Domain::language_model &&
      (class_count(patient) || (!fine_tuning(patient) && chance_classes(start, settings["as_guessed"])));
  const bool stands =
      static_cast<double>(loss.best_at) < (1 - settings["since_best"]) * static_cast<double>(loss.size());
  const double least = settings[both                ? "left_of_both"
                                : guesses && stands ? "left_standing"
                                : guesses           ? "left"
                                                    : "left_of_any"];
  const auto best = skill(patient);
  const bool skilled =
      best && (best->share > settings["skilled"] || (best->rising && best->share > settings["rising"]));
  const auto& qualities = patient.validation_quality();
  const bool metric_moved = !best && std::any_of(qualities.begin(), qualities.end(), [&](const Reading& quality) {
    return quality.improvement() > settings["metric_gain"] * std::max(std::abs(quality.start), std::abs(quality.best));
  });
  const bool climbed = loss.top > std::max(settings["climbed"] * start, start + (noisy ? loss.noise.sigma : 0));
  if (left < least || left > settings[noisy ? "not_risen_in_noise" : "not_risen"] || climbed || followed || skilled ||
      metric_moved || far_above_chance(patient, settings["times_chance"]))
    return std::nullopt;
  Observation seen = observe(Severity::warning, confidence_of(1.5), loss.first_step, loss.last_step,
                             loss.name + " has gained only " + per_cent(1 - left) +
                                 " in the whole run: " + number(start) + " to " + number(end) + ".");
  seen.evidence.push_back(
      evidence(loss.name, loss.first_step, loss.last_step, left, least, per_cent(left) + " of the first loss is left"));
  return seen;
}

/// The answers have got so much better that the run has come somewhere, however straight its loss.
bool answers_multiply(const Patient& patient, double share) {
  const auto gained = [&](const Reading& quality) {
    return quality.size() >= 5 && quality.improvement() > share * std::abs(quality.start);
  };
  return std::any_of(patient.validation_quality().begin(), patient.validation_quality().end(), gained) ||
         std::any_of(patient.training_quality().begin(), patient.training_quality().end(), gained);
}

/// The loss falls in a straight line, from its first value to its last, and has not come far from where training began.
std::optional<Observation> straight_line(const Reading& loss, double begin, double least_gain,
                                         const SettingValues& settings) {
  const std::size_t n = loss.size();
  const bool calm = loss.noise.sigma < settings["calm"] * loss.improvement();
  if (static_cast<double>(n) < settings[calm ? "fewest_calm" : "fewest_points"]) return std::nullopt;
  const signal::Trend whole = signal::trend_of(loss.curve.step, loss.curve.value);
  if (!whole.falls(settings["p_value"]) || !(loss.start > 0) || !(begin > 0)) return std::nullopt;
  // What has risen above its start first, as a contrastive loss does while its queue fills, is not judged from there.
  if (loss.end > loss.start) return std::nullopt;
  const double along = -whole.change / loss.start;
  const double gain = std::max(begin - loss.start, 0.0) / begin + along;
  if (gain > settings["gain_share"] || along < least_gain) return std::nullopt;

  const std::size_t half = n / 2;
  const signal::Trend first =
      signal::trend_of(std::span(loss.curve.step).first(half), std::span(loss.curve.value).first(half));
  const signal::Trend second =
      signal::trend_of(std::span(loss.curve.step).subspan(half), std::span(loss.curve.value).subspan(half));
  // Noise blurs both slopes: what it explains is no bend.
  const double steps = loss.curve.step[half] - loss.curve.step.front();
  const double blur =
      steps > 0 ? settings["blur"] * loss.noise.sigma * std::sqrt(12 / static_cast<double>(half)) / steps : 0;
  // A drop in the first points would hide in the first half's median slope.
  const double early_drop = loss.start - loss.smoothed[std::min(n - 1, n / 10 + 1)];
  const bool straight =
      second.falls(settings["p_value"]) && first.slope < 0 &&
      second.slope < settings["straight"] * first.slope + blur &&
      second.slope > settings["picks_up"] * first.slope - blur &&
      early_drop < settings["early_share"] * loss.improvement() + settings["start_noise"] * loss.noise.sigma;
  if (!straight) return std::nullopt;
  Observation seen = observe(
      Severity::warning, confidence_of(settings["gain_share"] / std::max(gain, 0.02)), loss.first_step, loss.last_step,
      loss.name + " falls steadily but has gained only " + per_cent(gain) + " in " + number(loss.curve.points()) +
          " points: " + number(loss.start) + " to " + number(loss.end) + ".");
  seen.evidence.push_back(
      evidence(loss.name, loss.first_step, loss.last_step, gain, settings["gain_share"],
               "the second half falls " + times(second.slope / first.slope) + " as fast as the first"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training() != nullptr ? patient.training() : patient.validation();
  if (loss == nullptr) return no_loss_to_check(patient);
  // A monitor sees every step, and the first ones of a warm-up or a large model are slow in every run.
  if (monitored(patient) && static_cast<double>(loss->last_step) < settings["early_steps"]) {
    return NotChecked{"the monitor has seen fewer than " + number(settings["early_steps"]) + " steps"};
  }
  if (few_single_batches(patient, *loss)) return NotChecked{"a few steps of single batches show no trend"};
  if (hardly_begun(patient)) return NotChecked{"the first updates of a language model show no trend"};
  const std::size_t n = loss->size();
  const double length = loss->curve.empty() ? 0 : loss->curve.step.back() - loss->curve.step.front();
  const double interval = n > 1 ? length / static_cast<double>(n - 1) : 0;
  // One that guesses to the end is stuck: that says it all.
  if (!guessing(patient) &&
      static_cast<double>(loss->first_step) <= std::max(settings["begins"] * length, 1.5 * interval)) {
    if (auto seen = hardly_moved(patient, *loss, settings)) return std::move(*seen);
  }
  if (n < settings["fewest_calm"]) return NotChecked{"fewer than " + number(settings["fewest_calm"]) + " points"};
  // A log that begins in the middle of a training shows its long tail, which is straight in every run.
  if (static_cast<double>(loss->first_step) > settings["continued"] * length) {
    return NotChecked{"the log begins at " + at_step(loss->first_step) + ": the descent before it is not seen"};
  }
  // A language model that was trained before has little to gain, and gains it evenly.
  if (patient.domain().domain == Domain::language_model && fine_tuning(patient)) return NotFound{};
  const bool few = static_cast<double>(n) < settings["fewest_points"];
  const bool came_far = answers_multiply(patient, settings["multiplied"]);
  if (!few || !came_far) {
    if (auto seen = straight_line(*loss, loss->start, settings["least_gain"], settings)) return std::move(*seen);
  }
  // Validation is calmer and tells a line from a bend in fewer points, where it began as high as training did.
  const Reading* validation = patient.validation();
  if (validation != nullptr && validation != loss && !came_far &&
      validation->start > settings["as_high"] * loss->start) {
    if (auto seen = straight_line(*validation, loss->start, settings["least_gain_calm"], settings)) {
      return std::move(*seen);
    }
  }
  return NotFound{};
}

}  // namespace

Finding loss_too_slow() {
  return {"loss-too-slow",
          "The loss falls steadily but far too slowly",
          {Need::curve},
          kDoc,
          {{"noisy", 0.08, "noise, as a share of the level, from which on single values are no levels"},
           {"many_values", 100, "values needed then"},
           {"climbed", 1.05, "times its start above which a loss has moved, if the wrong way, as while a queue fills"},
           {"left", 0.88,
            "share of the first loss that is left at the end; in the population 7 in 1,000 healthy runs keep more"},
           {"left_standing", 0.85, "the same where the loss no longer falls"},
           {"since_best", 0.08, "last part of the run without a new best that shows it"},
           {"left_of_any", 0.93, "the same where the first loss is not that of guessing"},
           {"as_guessed", 0.06, "relative distance of the first loss from ln(C) that counts as guessing"},
           {"left_of_both", 0.82, "the same where the validation loss has not moved either"},
           {"left_of_validation", 0.93, "share of the first validation loss that is left at its best, in that case"},
           {"fewest_evaluations", 6, "validation losses needed to say so"},
           {"not_risen", 0.985, "share of the first loss beyond which nothing moved: that is loss-stuck-from-start"},
           {"not_risen_in_noise", 0.97, "the same of single batches, whose medians differ by a per cent by luck"},
           {"skilled", 0.4, "share of the way from guessing to perfection of a model that knows its task"},
           {"rising", 0.25, "the same of one that still improves"},
           {"times_chance", 8, "times what guessing gets right, of an accuracy that shows progress among many classes"},
           {"metric_gain", 0.1, "gain of another metric, as a share of its size, that shows progress"},
           {"begins", 0.03, "first step, in lengths of the log, up to which the log begins with the training"},
           {"fewest_values", 8, "losses needed to see that nothing comes"},
           {"early_steps", 120, "steps before which a monitored training is too young to be slow"},
           {"fewest_points", 30, "points needed to tell a straight line from a bend"},
           {"fewest_calm", 12, "the same for a curve of hardly any noise"},
           {"calm", 0.1, "noise, as a share of the gain, of such a curve"},
           {"multiplied", 0.5, "gain of the answers, as a share of where they began, that excuses it"},
           {"as_high", 0.8, "first validation loss, as a share of that of training, of one that saw the whole way"},
           {"p_value", 0.01, "significance of the descent"},
           {"gain_share", 0.25, "share of the first level that a useful run would have gained"},
           {"least_gain", 0.02, "below this nothing moved: that is loss-stuck-from-start"},
           {"least_gain_calm", 0.1, "the same for validation: a long tail looks straight as well, and gains less"},
           {"straight", 0.6, "how fast the second half must fall against the first to count as straight"},
           {"picks_up", 1.7, "faster than this against the first half the descent is only beginning"},
           {"blur", 1, "standard errors of a slope that count as blur of its value"},
           {"continued", 0.2, "first step, in lengths of the log, from which on the log continues an earlier one"},
           {"start_noise", 1.5, "noise levels by which the first level may lie too high by chance"},
           {"early_share", 0.3, "share of the gain that may come in the first tenth"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
