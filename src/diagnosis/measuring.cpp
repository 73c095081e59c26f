// What several measures ask of a run.
#include "diagnosis/measuring.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kFewestPoints = 16;  // the shape of fewer says nothing

bool logs(const Patient& patient, std::initializer_list<Role> roles, std::initializer_list<Measure> measures) {
  for (const Role role : roles) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (std::find(measures.begin(), measures.end(), cast.guess.measure) != measures.end()) return true;
    }
  }
  return false;
}

/// What is trained, as a plural.
std::string_view trained(const Patient& patient) {
  if (patient.reinforcement()) return "agents";
  if (patient.adversarial()) return "adversarial trainings";
  const auto metrics = {Role::train_metric, Role::validation_metric};
  const auto losses = {Role::train_loss, Role::validation_loss};
  if (logs(patient, metrics, {Measure::perplexity, Measure::bits})) return "language models";
  if (!patient.roles().in(Role::train_accuracy).empty() || !patient.roles().in(Role::validation_accuracy).empty() ||
      logs(patient, metrics, {Measure::auc, Measure::f1, Measure::error_rate})) {
    return "classifiers";
  }
  if (logs(patient, losses, {Measure::squared_error, Measure::root_squared_error, Measure::absolute_error}) ||
      logs(patient, metrics, {Measure::r2, Measure::squared_error, Measure::absolute_error})) {
    return "regressions";
  }
  return "trainings of other kinds";
}

/// Whether the log counts epochs: what it calls its epochs runs with its steps, or there is one line for each.
bool by_epoch(const Patient& patient) {
  constexpr std::int64_t kMostEpochs = 1000;
  const StepRange steps = patient.run().steps();
  if (const Series* epochs = patient.roles().first(Role::epoch); epochs != nullptr && !epochs->summary().empty()) {
    const std::optional<Bucket> total = epochs->summary().total();
    const double apart = total->max - static_cast<double>(steps.last);
    return total->count > 0 && apart >= -1 && apart <= 1;
  }
  return steps.last <= kMostEpochs && patient.validation() != nullptr && patient.training() != nullptr &&
         patient.validation()->curve.points() == patient.training()->curve.points();
}

}  // namespace

const Reading* long_enough(const Reading* reading) {
  return reading != nullptr && reading->size() >= kFewestPoints ? reading : nullptr;
}

std::optional<double> scatter_over_level(const Reading* reading) {
  if (long_enough(reading) == nullptr || reading->level <= 0) return std::nullopt;
  return reading->noise.sigma / reading->level;
}

std::optional<double> late_over_early(const Reading* reading) {
  if (long_enough(reading) == nullptr) return std::nullopt;
  const std::span<const double> values = reading->curve.value;
  const std::size_t third = values.size() / 3;
  const double early = signal::median(values.first(third));
  if (early <= 0) return std::nullopt;
  return signal::median(values.last(third)) / early;
}

std::optional<double> highest_rate(const Patient& patient) {
  if (const std::optional<RateSchedule> rate = rate_schedule(patient)) return rate->peak;
  const std::optional<double> configured = configured_number(patient, {"learning_rate", "lr", "max_lr", "base_lr"});
  return configured && *configured > 0 ? configured : std::nullopt;
}

std::optional<std::string> optimizer_of(const Patient& patient) {
  const std::optional<std::string_view> name = configured_text(patient, {"optimizer", "optim", "optimizer_type"});
  if (!name) return std::nullopt;
  std::string small(*name);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

std::vector<std::string> strata_of(const Patient& patient) {
  const std::string kind(trained(patient));
  const std::string logged = kind + (by_epoch(patient) ? ", logged by the epoch" : ", logged by the step");
  std::vector<std::string> strata = {logged, kind, "trainings"};
  if (const std::optional<std::string> optimizer = optimizer_of(patient)) {
    strata.insert(strata.begin(), logged + ", trained by " + *optimizer);
  }
  return strata;
}

}  // namespace osler
