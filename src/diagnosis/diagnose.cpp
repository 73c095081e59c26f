// The engine: casts the roles, runs every check, weighs the causes, writes the report.
#include "osler/diagnosis/diagnose.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/calibration.h"
#include "diagnosis/framework.h"
#include "diagnosis/layer_table.h"
#include "diagnosis/movement.h"
#include "diagnosis/patient.h"
#include "diagnosis/prognosis.h"
#include "diagnosis/settings.h"
#include "diagnosis/verdicts.h"
#include "diagnosis/weigh.h"
#include "diagnosis/wording.h"

namespace osler {
namespace {

constexpr std::size_t kSketchColumns = 240;
constexpr std::size_t kSketches = 8;
constexpr std::uint64_t kFewestPointsToJudge = 5;  // below this no statistic means anything

Result<void> check_options(const DiagnosisOptions& options) {
  for (const std::string& id : options.only) {
    if (find_finding(id) == nullptr) return Error{ErrorCode::invalid_argument, "no finding of that name", id};
  }
  for (const auto& entry : options.settings) {
    const std::string_view key = entry.first;
    const auto dot = key.find('.');
    const Finding* finding = find_finding(key.substr(0, dot));
    const bool known = finding != nullptr && dot != std::string_view::npos &&
                       std::any_of(finding->settings.begin(), finding->settings.end(),
                                   [&](const Setting& setting) { return setting.name == key.substr(dot + 1); });
    if (!known) return Error{ErrorCode::invalid_argument, "no setting of that name", entry.first};
    if (!std::isfinite(entry.second)) {
      return Error{ErrorCode::invalid_argument, "a setting must be a finite number", entry.first};
    }
  }
  return {};
}

/// Why a finding has nothing to say about a run of this kind; nothing when it has.
std::optional<NotChecked> out_of_place(const Finding& finding, const Patient& patient) {
  switch (finding.judged_by) {
    case JudgedBy::any:
      return std::nullopt;
    case JudgedBy::loss:
      if (patient.reinforcement()) return NotChecked{"the run is judged by its reward"};
      if (patient.adversarial()) return NotChecked{"networks play against each other: their losses say little"};
      return std::nullopt;
    case JudgedBy::reward:
      if (!patient.reinforcement()) return NotChecked{"no reward is logged"};
      return std::nullopt;
    case JudgedBy::adversarial:
      if (patient.roles().in(Role::generator_loss).empty()) return NotChecked{"no generator is trained"};
      return std::nullopt;
  }
  return std::nullopt;
}

/// Runs the checks one after the other, in catalogue order.
Verdicts examine(const Patient& patient, const DiagnosisOptions& options) {
  Verdicts seen;
  for (const auto& [stem, finding] : findings()) {
    const bool wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), finding.id) != options.only.end();
    if (!wanted) continue;
    if (auto reason = out_of_place(finding, patient)) {
      seen.set(finding.id, std::move(*reason));
      continue;
    }
    Verdict verdict = finding.check(patient, SettingValues(finding, options.settings));
    if (auto* observation = std::get_if<Observation>(&verdict)) {
      observation->finding = finding.id;
      observation->confidence = calibrated(finding.id, observation->confidence);
    }
    seen.set(finding.id, std::move(verdict));
  }
  return seen;
}

Sketch sketch_of(const Cast& cast) {
  Sketch sketch;
  sketch.series = cast.series->name();
  sketch.role = to_string(cast.guess.role);
  std::vector<Bucket> buckets = cast.series->summary().buckets();
  thin(buckets, kSketchColumns);
  for (const Bucket& bucket : buckets) {
    const bool finite = bucket.count > 0;
    sketch.columns.push_back({bucket.first_step, finite ? bucket.min : std::nan(""), finite ? bucket.max : std::nan(""),
                              finite ? bucket.mean : std::nan(""), bucket.nonfinite});
  }
  return sketch;
}

void add_sketches(const RoleMap& roles, Report& report) {
  for (const Role role :
       {Role::train_loss, Role::generator_loss, Role::discriminator_loss, Role::policy_loss, Role::value_loss,
        Role::validation_loss, Role::reward, Role::evaluation_reward, Role::validation_accuracy,
        Role::validation_metric, Role::gradient_norm, Role::learning_rate}) {
    for (const Cast& cast : roles.in(role)) {
      if (report.sketches.size() >= kSketches) return;
      if (!cast.series->summary().empty()) report.sketches.push_back(sketch_of(cast));
    }
  }
}

/// Where a curve ends, the same wherever a report tells it: a calm one with its last value, a noisy one at the level of
/// its last tenth.
double told_end(const Reading& reading) {
  const bool last = is_calm(reading) && !reading.ends_nonfinite;
  return reading.shown(last ? reading.curve.value.back() : reading.end);
}

void add_metrics(const Patient& patient, Report& report) {
  const auto add = [&](const std::string& name, const Reading* reading) {
    if (reading == nullptr || reading->curve.empty()) return;
    report.metrics["first-" + name] = reading->shown(reading->opening);
    // Where every value of the log is kept, the best is one that stands in it.
    const auto& values = reading->curve.value;
    const bool kept = reading->curve.points() <= static_cast<double>(reading->size());
    const auto lowest = static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
    const std::size_t best = kept ? lowest : reading->best_at;
    report.metrics["final-" + name] = told_end(*reading);
    report.metrics["best-" + name] = reading->shown(kept ? values[best] : reading->best);
    report.metrics["best-" + name + "-step"] = static_cast<double>(reading->step_at(best));
  };
  if (!patient.by_quality()) add(patient.reinforcement() ? "reward" : "train-loss", patient.training());
  add("validation-loss", patient.validation());
  if (!patient.validation_quality().empty()) add("validation-metric", &patient.validation_quality().front());
  if (const Reading* norm = patient.gradient_norm(); norm != nullptr && !norm->curve.empty()) {
    report.metrics["median-gradient-norm"] = norm->level;
  }
}

void add_code(Framework framework, Report& report) {
  for (WeighedCause& cause : report.causes) {
    for (Remedy& remedy : cause.remedies) {
      if (remedy.change) remedy.code = code_of(*remedy.change, framework);
    }
  }
}

bool can_judge(const Patient& patient) {
  const auto enough = [](const Reading* reading) {
    return reading != nullptr &&
           reading->curve.points() + static_cast<double>(reading->nonfinite) >= kFewestPointsToJudge;
  };
  const auto any = [&](const std::vector<Reading>& readings) {
    return std::any_of(readings.begin(), readings.end(), [&](const Reading& reading) { return enough(&reading); });
  };
  return enough(patient.training()) || enough(patient.validation()) || any(patient.validation_quality()) ||
         any(patient.training_quality()) || enough(patient.gradient_norm());
}

/// A GAN has no loss that should fall: it is judged when the balance of its networks was.
bool judged_as_game(const Patient& patient, const Verdicts& seen) {
  if (!patient.adversarial()) return false;
  const auto& all = seen.all();
  const auto balance = all.find("discriminator-overpowers-generator");
  return balance != all.end() && !std::holds_alternative<NotChecked>(balance->second);
}

/// Whether any series has the role of something that a training is judged by.
bool recognised(const Report& report) {
  return std::any_of(report.roles.begin(), report.roles.end(), [](const auto& role) {
    const std::string& name = role.first;
    return name.ends_with("loss") || name.ends_with("accuracy") || name.ends_with("metric") || name.ends_with("reward");
  });
}

std::string headline_of(const Report& report, const Patient& patient) {
  if (!report.findings.empty() && report.findings.front().severity != Severity::note) {
    return report.findings.front().summary;
  }
  if (report.status == Status::insufficient_data) {
    if (patient.run().all_series().empty()) return "The log holds no numbers.";
    if (patient.adversarial()) {
      return "Only losses of networks that play against or beside each other were recognised, and they say little: log "
             "a reward or another figure of merit, or say which series is one.";
    }
    if (!recognised(report)) {
      return "No loss, reward or metric was recognised among the series; say which series is one.";
    }
    if (lost_in_scatter(patient)) {
      const Reading& loss = *patient.training();
      return loss.name + " scatters so much around " + number(loss.shown(loss.level)) +
             " that neither progress nor standstill shows: log its mean over many steps, or a validation loss.";
    }
    return "Too few points to judge: at least " + std::to_string(kFewestPointsToJudge) + " are needed.";
  }
  const Reading* main = patient.training() != nullptr ? patient.training() : patient.validation();
  if (main == nullptr && patient.adversarial()) {
    return "Nothing wrong was found in how the networks' losses hold against each other; how good they are, such "
           "losses "
           "do not say.";
  }
  if (main == nullptr) return "Nothing wrong was found.";
  return "Nothing wrong was found: " + main->name + " went from " + number(main->shown(main->opening)) + " to " +
         (is_calm(*main) ? "" : "about ") + number(told_end(*main)) + ".";
}

void add_findings(const Verdicts& seen, Report& report) {
  for (const auto& [id, verdict] : seen.all()) {
    if (const auto* observation = std::get_if<Observation>(&verdict)) {
      report.findings.push_back(*observation);
      report.checks_ran.push_back(id);
    } else if (const auto* not_checked = std::get_if<NotChecked>(&verdict)) {
      report.checks_not_run.push_back({id, not_checked->reason});
    } else {
      report.checks_ran.push_back(id);
    }
  }
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Observation& a, const Observation& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.confidence > b.confidence;
  });
}

Status status_of(const Report& report, bool judged) {
  const Severity worst = report.findings.empty() ? Severity::note : report.findings.front().severity;
  if (worst == Severity::critical) return Status::critical;
  if (worst == Severity::warning) return Status::warning;
  return judged ? Status::healthy : Status::insufficient_data;
}

/// The training loss that no name tells of: the only series there was (see RoleMap::infer), or nullptr.
const Series* assumed_loss(const RoleMap& roles, const std::vector<RoleOverride>& told) {
  const Series* loss = roles.first(Role::train_loss);
  if (loss == nullptr || !told.empty() || guess_role(loss->name()).role != Role::other) return nullptr;
  return loss;
}

}  // namespace

std::vector<RoleOverride> roles_for(const Run& run, const DiagnosisOptions& options) {
  std::vector<RoleOverride> roles = options.roles;
  for (const RoleOverride& role : options.roles_if_there) {
    if (run.find(role.series) != nullptr) roles.push_back(role);
  }
  return roles;
}

Result<Report> diagnose(const Run& run, const DiagnosisOptions& options) {
  if (auto fine = check_options(options); !fine) return fine.error();
  const std::vector<RoleOverride> told = roles_for(run, options);
  const auto roles = RoleMap::infer(run, told);
  if (!roles) return roles.error();
  const Patient patient(run, *roles, options.now, options.domain);
  const Verdicts seen = examine(patient, options);

  Report report;
  report.run_name = run.name;
  report.sources = run.sources;
  report.format = run.format;
  report.steps = run.steps();
  report.marks = run.marks();
  report.damage = run.damage;
  report.domain = patient.domain();
  for (const auto& [role, casts] : roles->all()) {
    if (role == Role::other) continue;
    for (const Cast& cast : casts) report.roles[std::string(to_string(role))].push_back(cast.series->name());
  }
  add_findings(seen, report);
  const bool judged = can_judge(patient) && !lost_in_scatter(patient);
  report.status = status_of(report, judged || judged_as_game(patient, seen));
  report.headline = headline_of(report, patient);
  Weighing weighing = weigh(patient, seen);
  report.causes = std::move(weighing.causes);
  add_code(framework_of(run), report);
  report.ruled_out = std::move(weighing.ruled_out);
  add_metrics(patient, report);
  const ReferenceRanges& ranges = options.baseline ? *options.baseline : built_in_ranges();
  report.measures = compared(measure(patient), ranges);
  report.reference = ranges.name;
  report.experiments = experiments(run);
  add_sketches(*roles, report);
  if (const Reading* norm = patient.gradient_norm(); norm != nullptr && norm->computed)
    report.computed[std::string(to_string(Role::gradient_norm))] = norm->name;
  if (const Series* loss = assumed_loss(*roles, told); loss != nullptr)
    report.computed[std::string(to_string(Role::train_loss))] = loss->name() + " (assumed: the only series)";
  // What is sick will not go on as it does: it is to be treated.
  if (report.status == Status::healthy) report.prognosis = prognosis_of(patient);
  if (options.layers) report.layers = layer_table(patient, report.findings);
  return report;
}

}  // namespace osler
