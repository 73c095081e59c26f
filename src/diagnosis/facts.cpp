// Reading facts from the curves.
#include "diagnosis/facts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/layers.h"
#include "diagnosis/turn.h"
#include "diagnosis/wording.h"
#include "run/series_names.h"
#include "signal/robust.h"

namespace osler {
namespace {

/// The last third of a reading, at least its last `fewest` points.
signal::Curve last_third(const Reading& reading) {
  constexpr std::size_t kFewest = 6;
  const std::size_t n = reading.size();
  const std::size_t length = std::min(n, std::max(kFewest, n / 3));
  return signal::slice(reading.curve, n - length, n);
}

}  // namespace

std::optional<RateSchedule> rate_schedule(const Patient& patient) {
  const Reading* rate = patient.learning_rate();
  if (rate == nullptr || rate->curve.empty()) return std::nullopt;
  RateSchedule schedule;
  const auto highest = std::max_element(rate->curve.high.begin(), rate->curve.high.end());
  schedule.start = rate->curve.value.front();
  schedule.peak = *highest;
  schedule.now = rate->curve.value.back();
  schedule.peak_step = rate->step_at(static_cast<std::size_t>(highest - rate->curve.high.begin()));
  if (!(schedule.peak > 0)) return std::nullopt;
  constexpr double kSpent = 0.05;
  std::size_t spent = rate->size();
  while (spent > 0 && rate->curve.high[spent - 1] < kSpent * schedule.peak) --spent;
  schedule.spent_step = rate->step_at(spent);
  schedule.spent_share = static_cast<double>(rate->size() - spent) / static_cast<double>(rate->size());
  return schedule;
}

std::optional<double> usual_norm(const Patient& patient) {
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr || norm->curve.empty()) return std::nullopt;
  return signal::median(norm->curve.value);
}

bool norms_all_zero(const Patient& patient) {
  const Reading* norm = patient.gradient_norm();
  return norm != nullptr && !norm->curve.empty() && norm->nonfinite == 0 &&
         *std::max_element(norm->curve.high.begin(), norm->curve.high.end()) == 0;
}

bool norms_ordinary(const Patient& patient, const Verdicts& verdicts) {
  // Global norms of trained networks lie within these; the size depends on width and on how the loss is averaged.
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e3;
  constexpr double kLeft = 0.01;  // the norm falls with the loss, but not to a hundredth while training works
  const auto usual = usual_norm(patient);
  if (!usual || *usual < kLeast || *usual > kMost) return false;
  // The norm of the whole hides a layer that gets nothing.
  if (verdicts.found("dead-layer") != nullptr || verdicts.found("silent-layer") != nullptr) return false;
  const Reading* norm = patient.gradient_norm();
  return norm->nonfinite == 0 && norm->end > kLeft * *usual && verdicts.found("exploding-gradients") == nullptr &&
         verdicts.found("vanishing-gradients") == nullptr;
}

bool Break::announced() const {
  return growth > 2;
}

bool Break::sudden() const {
  return growth < 1.3;
}

std::optional<Break> break_of(const Patient& patient) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->negated || loss->nonfinite == 0 || loss->curve.empty()) return std::nullopt;
  const auto when = static_cast<double>(loss->first_nonfinite_step);
  if (loss->curve.step.front() > when) return std::nullopt;
  const std::size_t last = loss->index_at(when);
  if (last == 0) return std::nullopt;
  Break found;
  found.before = loss->curve.high[last];
  found.usual = *std::min_element(loss->smoothed.begin(), loss->smoothed.begin() + static_cast<std::ptrdiff_t>(last));
  // A loss may be negative: what it climbed is measured against its level.
  const double scale = std::max({std::abs(found.usual), 0.1 * loss->level, 1e-300});
  found.growth = 1 + (found.before - found.usual) / scale;
  return found;
}

bool break_recovered(const Verdicts& verdicts) {
  for (const std::string_view id : {"loss-nonfinite-later", "loss-nonfinite-at-start"}) {
    if (qualifier(verdicts.found(id), "recovered") == "yes") return true;
  }
  return false;
}

namespace {

/// The levels at both ends of the last third.
std::pair<double, double> ends_of_last_third(const signal::Curve& late) {
  const std::size_t part = std::max<std::size_t>(1, late.size() / 4);
  return {signal::median(std::span(late.value).first(part)), signal::median(std::span(late.value).last(part))};
}

}  // namespace

bool still_falls(const Reading& reading) {
  constexpr double kSignificance = 0.01;
  constexpr double kMatters = 1e-3;  // the catalogue's limit for a plateau
  const signal::Curve late = last_third(reading);
  if (late.empty()) return false;
  const signal::Trend trend = signal::trend_of(late.step, late.value);
  const auto [from, to] = ends_of_last_third(late);
  return trend.falls(kSignificance) && std::min(-trend.change, from - to) > kMatters * reading.level;
}

std::string fall_in_words(const Reading& reading) {
  const auto [from, to] = ends_of_last_third(last_third(reading));
  return reading.name + " still improves (" + number(reading.shown(from)) + " to " + number(reading.shown(to)) +
         " over the last third)";
}

bool training_goes_on(const Patient& patient, const Verdicts& verdicts) {
  const Reading* training = patient.training();
  if (training == nullptr || training->curve.empty()) return false;
  return still_falls(*training) || qualifier(verdicts.found("loss-plateau"), "training") == "falls";
}

bool fits_training_set(const Patient& patient) {
  constexpr double kMemorised = 0.05;
  const Reading* loss = patient.training();
  return loss != nullptr && !loss->negated && loss->start > 0 && loss->best >= 0 &&
         loss->end < kMemorised * loss->start;
}

bool training_learned(const Patient& patient) {
  constexpr double kSignificance = 0.01;
  constexpr double kMatters = 0.01;
  const Reading* training = patient.training();
  if (training == nullptr || training->size() < 3) return false;
  const signal::Trend trend = signal::trend_of(training->curve.step, training->curve.value);
  return trend.falls(kSignificance) && -trend.change > kMatters * training->level;
}

namespace {

/// The classes among which training ended up guessing, where no accuracy tells: the losses of guessing among few
/// classes lie far enough apart to be known by themselves when training stands exactly there and validation is no
/// better.
std::optional<int> training_stands_at_chance(const Patient& patient) {
  constexpr int kFew = 10;
  constexpr double kByHeart = 0.025;  // of ln C, below it
  constexpr double kAbove = 0.005;
  constexpr double kNoBetter = 0.07;
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || training->negated || training->curve.empty() || patient.best_accuracy())
    return std::nullopt;
  const auto classes = chance_classes(training->end, kByHeart);
  if (!classes || *classes > kFew) return std::nullopt;
  const double guess = std::log(*classes);
  const bool no_better = validation == nullptr || validation->end > (1 - kNoBetter) * guess;
  return training->end < (1 + kAbove) * guess && no_better ? classes : std::nullopt;
}

}  // namespace

std::optional<int> stays_at_chance(const Patient& patient, double tolerance) {
  constexpr double kFar = 0.2;  // a first loss further above than this came down, so something was learned
  const Reading* loss = patient.validation() != nullptr ? patient.validation() : patient.training();
  if (loss == nullptr || loss->curve.empty() || patient.reinforcement()) return std::nullopt;
  const auto classes = chance_classes(loss->end, tolerance);
  // The first evaluation may come late: what training gained before it counts.
  const double first = std::isfinite(comparable_start(patient)) ? comparable_start(patient) : loss->start;
  if (std::max(loss->start, first) - loss->best <= kFar * loss->level) return classes;
  // Or it came down to guessing, no further, and the answers are those of guessing.
  constexpr double kAsGuessed = 0.1;
  const auto accuracy = patient.best_accuracy();
  constexpr double kLoosely = 0.02;  // asked more strictly than this, only a loss that never moved is meant
  if (tolerance > kLoosely) {
    if (const auto guessed = training_guesses(patient)) return guessed;
    if (const auto stands = training_stands_at_chance(patient)) return stands;
  }
  const bool guesses = classes && accuracy && *accuracy < 1.0 / *classes + kAsGuessed &&
                       loss->best > (1 - tolerance) * std::log(*classes);
  return guesses ? classes : std::nullopt;
}

std::optional<std::string> better_than_guessing(const Patient& patient) {
  constexpr double kNear = 0.06;    // of ln C: beyond this nobody would think of guessing
  constexpr double kUnits = 4;      // noise levels of a single evaluation
  constexpr double kLeast = 0.005;  // of ln C
  constexpr std::size_t kFewest = 6;
  const Reading* loss = patient.validation();
  const auto classes = stays_at_chance(patient, kNear);
  if (!classes || loss == nullptr || loss->size() < kFewest) return std::nullopt;
  const double guess = std::log(*classes);
  const double below = guess - loss->end;
  if (below < kLeast * guess || below < kUnits * loss->noise.sigma) return std::nullopt;
  return loss->name + " of " + number(loss->end) + " lies surely below the " + number(guess) + " of guessing among " +
         std::to_string(*classes) + " classes";
}

bool creeps_back(const Patient& patient, const Verdicts& verdicts) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (verdicts.found("loss-diverging") == nullptr || training == nullptr || validation == nullptr) return false;
  const auto rate = rate_schedule(patient);
  if (rate && rate->now > 2 * rate->start) return false;  // a rate that grew explains it
  const double rise = training->end - training->best;
  const bool smooth = training->noise.sigma < 0.25 * rise && training->end < 3 * std::abs(training->best);
  return smooth && std::abs(validation->end - training->end) < 0.1 * std::abs(training->end);
}

std::optional<int> known_classes(const Patient& patient) {
  if (const auto told = configured_classes(patient)) return told;
  constexpr double kTolerance = 0.05;
  const Reading* training = patient.training();
  if (training == nullptr || training->negated || training->curve.empty()) return std::nullopt;
  return chance_classes(training->start, kTolerance);
}

std::optional<std::string> nothing_carries_over(const Patient& patient) {
  constexpr std::size_t kFewest = 5;
  constexpr double kNothing = 0.02;  // share of its level by which a loss improves without meaning it
  const Reading* loss = patient.validation();
  const auto classes = known_classes(patient);
  const auto accuracy = patient.best_accuracy();
  if (!classes || !accuracy || loss == nullptr || loss->size() < kFewest || !training_learned(patient)) {
    return std::nullopt;
  }
  const double chance = 1.0 / *classes;
  const bool guesses = *accuracy < std::min(1.5 * chance, chance + 0.05);
  if (!guesses || loss->improvement() > std::max(kNothing * loss->level, 2 * loss->noise.sigma)) return std::nullopt;
  return "training learned while validation never did better than guessing: " + per_cent(*accuracy) + " at best, of " +
         std::to_string(*classes) + " classes";
}

bool FirstSignal::grows() const {
  return growth > 100;
}

bool FirstSignal::fades() const {
  return growth < 0.01;
}

bool FirstSignal::keeps() const {
  return growth > 0.05 && growth < 20;
}

std::string FirstSignal::in_words() const {
  if (keeps()) return "before the first step the signal keeps its size from " + from + " to " + to;
  const double factor = growth < 1 ? 1 / growth : growth;
  return "before the first step the signal " + std::string(growth < 1 ? "shrinks" : "grows") +
         (std::isfinite(factor) ? " by " + times(factor) : " without bound") + " from " + from + " to " + to;
}

std::optional<FirstSignal> first_signal(const Patient& patient) {
  std::vector<std::pair<std::string, double>> sizes;
  for (const Layer& layer : layers_in(patient, Role::layer_activation)) {
    const Series* series = layer.find({"std"});
    // "fc1 -> relu" is what stands behind the layer: it follows the layer's own size.
    if (series == nullptr || series->summary().empty() || layer.name.find(" -> ") != std::string::npos) continue;
    // A look after the first steps shows what they did, not what they found.
    if (series->summary().total()->first_step > patient.run().steps().first + 1) return std::nullopt;
    const signal::Curve curve = layer_curve(*series);
    if (!curve.empty()) sizes.emplace_back(layer.name, curve.value.front());
  }
  if (sizes.size() < 2 || !(sizes.front().second > 0)) return std::nullopt;
  return FirstSignal{sizes.front().first, sizes.back().first, sizes.back().second / sizes.front().second};
}

bool monitored(const Patient& patient) {
  return patient.run().find(series_name::kCheckParametersNotOptimized) != nullptr;
}

bool exactly_constant(const Reading& reading) {
  constexpr double kFewestPoints = 5;
  if (reading.curve.points() < kFewestPoints || reading.nonfinite > 0) return false;
  const double low = *std::min_element(reading.curve.low.begin(), reading.curve.low.end());
  return low == *std::max_element(reading.curve.high.begin(), reading.curve.high.end());
}

std::optional<ValidationTail> validation_tail(const Patient& patient) {
  constexpr std::size_t kNewest = 10;
  constexpr std::size_t kFewest = 3;
  const Series* series = patient.roles().first(Role::validation_loss);
  if (series == nullptr) series = patient.roles().first(Role::validation_accuracy);
  if (series == nullptr) series = patient.roles().first(Role::validation_metric);
  if (series == nullptr) return std::nullopt;
  ValidationTail tail;
  tail.series = series->name();
  const std::vector<Point> recent = series->summary().recent();
  for (std::size_t i = recent.size() - std::min(recent.size(), kNewest); i < recent.size(); ++i) {
    if (std::isfinite(recent[i].value)) tail.values.push_back(recent[i].value);
  }
  if (tail.values.size() < kFewest) return std::nullopt;
  // Rounding to the logged digits lets one or two of ten moving values coincide; a frozen value is one number.
  const std::set<double> distinct(tail.values.begin(), tail.values.end());
  tail.all_different = 2 * distinct.size() > tail.values.size();
  tail.all_equal = distinct.size() == 1;
  return tail;
}

std::optional<std::string> repeats_itself(const Patient& patient, const Verdicts& verdicts) {
  constexpr std::size_t kConvincing = 5;
  const auto tail = validation_tail(patient);
  if (!tail || !tail->all_equal || tail->values.size() < kConvincing || !training_goes_on(patient, verdicts)) {
    return std::nullopt;
  }
  return "the last " + std::to_string(tail->values.size()) + " values of " + tail->series + " are all exactly " +
         number(tail->values.front());
}

bool only_metric_frozen(const Patient& patient, const Verdicts& verdicts) {
  const Observation* frozen = verdicts.found("validation-frozen");
  const Reading* loss = patient.validation();
  if (frozen == nullptr || frozen->evidence.empty() || loss == nullptr) return false;
  // A loss that moved once and repeats itself now is frozen as well.
  const auto tail = validation_tail(patient);
  if (tail && tail->all_equal) return false;
  return frozen->evidence.front().series != loss->name && validation_followed(patient);
}

bool validation_followed(const Patient& patient) {
  constexpr double kNoiseUnits = 4;
  constexpr double kMatters = 0.02;
  const auto improved = [&](const Reading& reading) {
    return reading.size() >= 3 && reading.improvement() > kNoiseUnits * reading.noise.sigma &&
           reading.improvement() > kMatters * reading.level;
  };
  if (patient.validation() != nullptr) return improved(*patient.validation());
  return !patient.validation_quality().empty() && improved(patient.validation_quality().front());
}

bool on_validation(const Patient& patient, const Observation& observation) {
  if (const auto named = observation.qualifiers.find("series"); named != observation.qualifiers.end()) {
    return named->second == "validation" ||
           (patient.validation() != nullptr && named->second == patient.validation()->name);
  }
  if (observation.evidence.empty()) return false;
  const std::string& series = observation.evidence.front().series;
  if (patient.validation() != nullptr && patient.validation()->name == series) return true;
  return std::any_of(patient.validation_quality().begin(), patient.validation_quality().end(),
                     [&](const Reading& quality) { return quality.name == series; });
}

std::string_view qualifier(const Observation* observation, const std::string& name) {
  if (observation == nullptr) return {};
  const auto value = observation->qualifiers.find(name);
  return value == observation->qualifiers.end() ? std::string_view{} : std::string_view(value->second);
}

const Mark* restart_before(const Patient& patient, std::int64_t step) {
  const Mark* newest = nullptr;
  for (const Mark& mark : patient.run().marks()) {
    if (mark.kind == Mark::Kind::restart && mark.step <= step) newest = &mark;
  }
  return newest;
}

}  // namespace osler
