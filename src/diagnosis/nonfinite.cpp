// Collecting the non-finite values of loss series.
#include "diagnosis/nonfinite.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/wording.h"

namespace osler {
namespace {

Nonfinite inspect(const Cast& cast, bool validation) {
  const Summary& summary = cast.series->summary();
  Nonfinite found;
  found.series = cast.series->name();
  found.validation = validation;
  found.component = cast.guess.component;
  const Bucket total = *summary.total();
  found.points = total.points();
  found.count = total.nonfinite;
  found.series_start = total.first_step;
  found.first_step = total.first_nonfinite_step;
  found.last_step = total.last_step;
  found.value_before = std::nan("");
  for (const Bucket& bucket : summary.buckets()) {
    if (bucket.nonfinite > 0) {
      // Inside the bucket the share of steps before the event stands for the share of points.
      const double steps = static_cast<double>(bucket.last_step - bucket.first_step) + 1;
      const double before = static_cast<double>(bucket.first_nonfinite_step - bucket.first_step) / steps;
      found.points_before += static_cast<std::uint64_t>(before * static_cast<double>(bucket.points()));
      if (bucket.count > 0 && before > 0) found.value_before = bucket.first;
      break;
    }
    found.points_before += bucket.count;
    if (bucket.count > 0) found.value_before = bucket.last;
  }
  const std::vector<Point> recent = summary.recent();
  const double newest = recent.empty() ? total.last : recent.back().value;
  found.recovered = std::isfinite(newest);
  found.spelling = std::isnan(newest) ? "NaN" : std::isinf(newest) ? "infinite" : "NaN or infinite";
  return found;
}

constexpr double kSamePace = 0.1;  // relative difference of two series that are logged in the same rows

/// From where to where a series goes, and in how many points.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double points = 0;

  /// Points per step.
  [[nodiscard]] double pace() const { return (points - 1) / std::max(1.0, static_cast<double>(last - first)); }
};

Stretch stretch_of(const Series& series) {
  const Bucket total = *series.summary().total();
  return {total.first_step, total.last_step, static_cast<double>(total.points())};
}

}  // namespace

bool Nonfinite::early(double first_steps) const {
  return static_cast<double>(first_step - series_start) < first_steps &&
         static_cast<double>(points_before) < first_steps;
}

Severity Nonfinite::severity() const {
  if (component && recovered) return Severity::note;
  if (!recovered) return Severity::critical;
  // Recovered on its own: the weights survived, so it is a warning, or less where only one evaluation was hit.
  return validation && count == 1 ? Severity::note : Severity::warning;
}

double Nonfinite::confidence() const {
  return recovered ? 0.8 : 0.99;
}

Evidence Nonfinite::evidence(double first_steps) const {
  return {series,
          first_step,
          last_step,
          static_cast<double>(count),
          first_steps,
          std::to_string(count) + " of " + std::to_string(points) + " values are not finite, the first at " +
              at_step(first_step)};
}

std::vector<Nonfinite> nonfinite_losses(const Patient& patient) {
  std::vector<Nonfinite> found;
  for (const Role role : {Role::train_loss, Role::generator_loss, Role::discriminator_loss, Role::policy_loss,
                          Role::value_loss, Role::validation_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (!cast.series->summary().empty()) found.push_back(inspect(cast, role == Role::validation_loss));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Nonfinite& a, const Nonfinite& b) {
    const auto rank = [](const Nonfinite& n) {
      return n.count == 0 ? 4 : (n.recovered ? 2 : 0) + (n.validation ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  return found;
}

bool lost_to_nonfinite(const Patient& patient) {
  const std::vector<Nonfinite> losses = nonfinite_losses(patient);
  return !losses.empty() && losses.front().count > 0 && !losses.front().recovered && !losses.front().component;
}

std::optional<FallenSilent> fallen_silent(const Patient& patient, double fewest, double share) {
  const Reading* training = patient.training();
  if (training == nullptr || patient.adversarial() || patient.reinforcement()) return std::nullopt;
  const Series* loss = patient.run().find(training->name);
  if (loss == nullptr || loss->summary().points() < 2) return std::nullopt;
  const Stretch told = stretch_of(*loss);
  for (const Role role : {Role::train_loss, Role::validation_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (!cast.series->summary().empty() && stretch_of(*cast.series).last > told.last) return std::nullopt;
    }
  }
  std::optional<FallenSilent> found;
  for (const Series& series : patient.run().all_series()) {
    if (series.summary().empty()) continue;
    const Stretch other = stretch_of(series);
    // Another phase of the training has a loss of its own, by whatever name.
    if (other.first > told.last) return std::nullopt;
    const double without = other.points - told.points;
    const bool together = other.first == told.first && std::abs(other.pace() / told.pace() - 1) < kSamePace;
    if (found || !together || other.last <= told.last) continue;
    if (without < fewest || without < share * told.points) continue;
    found = FallenSilent{training->name, series.name(), loss->summary().points(),
                         told.last,      other.last,    static_cast<std::uint64_t>(without)};
  }
  return found;
}

NotChecked no_loss_to_check(const Patient& patient) {
  if (patient.run().all_series().empty()) return {"the log holds no series"};
  const RoleMap& roles = patient.roles();
  if (roles.in(Role::train_loss).empty() && patient.validation() != nullptr) return {"no training loss"};
  const bool recognised = !roles.in(Role::train_loss).empty() || !roles.in(Role::validation_loss).empty();
  return {recognised ? "too few values of the loss" : "no loss series was recognised"};
}

}  // namespace osler
