// Sick, diagnosed, treated, well.
#include "osler/gallery/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "osler/diagnosis/catalogue.h"

namespace osler::gallery {
namespace {

bool is_warning(const Observation& seen) {
  return seen.severity != Severity::note;
}

bool seen(const Report& report, std::string_view finding) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Observation& observation) { return observation.finding == finding; });
}

std::optional<std::size_t> rank_of(const Patient& patient, const Report& report) {
  for (std::size_t i = 0; i < report.causes.size(); ++i) {
    const std::string& cause = report.causes[i].cause;
    const bool right = cause == patient.cause ||
                       std::find(patient.causes.begin(), patient.causes.end(), cause) != patient.causes.end();
    if (right) return i;
  }
  return std::nullopt;
}

bool can_apply(const Recipe& recipe, const Remedy::Change& change) {
  Recipe changed = recipe;
  return set(changed, change.name, change.to).has_value() && check(changed).has_value() && changed != recipe;
}

TrainingOptions named(TrainingOptions options, std::string_view ending) {
  options.name += ending;
  if (!options.run_file.empty()) {
    const auto stem = options.run_file.stem().string();
    options.run_file.replace_filename(stem + std::string(ending) + options.run_file.extension().string());
  }
  return options;
}

/// A fork must be long enough to show what the report leads with.
std::int64_t fork_steps(const Recipe& recipe, const Report& report, double share) {
  constexpr double kBeyond = 0.2;
  const auto all = static_cast<double>(recipe.steps);
  double steps = share * all;
  if (!report.findings.empty() && is_warning(report.findings.front())) {
    steps = std::max(steps, static_cast<double>(report.findings.front().first_step) + kBeyond * all);
  }
  return static_cast<std::int64_t>(std::min(steps, all));
}

class Visiting {
 public:
  Visiting(const Patient& patient, const Trainer& trainer, const VisitOptions& options)
      : patient_(patient), follow_(trainer), options_(options) {}

  Result<Visit> run() {
    if (!patient_.probe.empty()) {
      const auto probe = find_probe(patient_.probe);
      if (!probe) return probe.error();
      auto& asked = options_.training.probes;
      if (std::find(asked.begin(), asked.end(), *probe) == asked.end()) asked.push_back(*probe);
    }
    phase("sick");
    auto sick = follow_(patient_.recipe, options_.training);
    if (!sick) return sick.error();
    visit_.seed = options_.training.seed;
    visit_.sick = std::move(*sick);
    examine();
    if (options_.own && !visit_.finding_seen) expect_what_was_found();
    visit_.treated_recipe = patient_.recipe;
    if (patient_.healthy() || !options_.treat || visit_.sick.stopped) return std::move(visit_);
    treat_by_report();
    if (auto done = train_again(); !done) return done.error();
    // Without a change there was no treatment, however well the patient looks.
    const bool untreated = visit_.cure->kept.empty();
    if ((!visit_.recovered || untreated) && !visit_.treated->stopped) {
      if (auto done = prescribe(); !done) return done.error();
    }
    return std::move(visit_);
  }

 private:
  void phase(std::string_view name) const {
    if (options_.on_phase) options_.on_phase(name);
  }

  void expect_what_was_found() {
    patient_.finding = {};
    patient_.cause = {};
    patient_.treatments.clear();
    patient_.recovery = {};
    patient_.recovery.better_by = 1;
    for (const Observation& observation : visit_.sick.report.findings) {
      if (!is_warning(observation)) continue;
      // Findings live in the catalogue as long as the program does; the report may be moved.
      if (const Finding* known = find_finding(observation.finding)) patient_.finding = known->id;
      break;
    }
  }

  void examine() {
    const Report& report = visit_.sick.report;
    visit_.clean = std::none_of(report.findings.begin(), report.findings.end(), is_warning);
    visit_.finding_seen = seen(report, patient_.finding);
    visit_.cause_rank = rank_of(patient_, report);
  }

  void treat_by_report() {
    visit_.cure = cure(patient_.recipe, visit_.sick.report, follow_, options_);
    visit_.treated_recipe = changed(patient_.recipe, visit_.cure->kept);
  }

  Result<void> train_again() {
    phase("treated");
    TrainingOptions training = named(options_.training, "-treated");
    auto treated = follow_(visit_.treated_recipe, training);
    if (!treated) return treated.error();
    visit_.treated = std::move(*treated);
    const auto ill = still_ill(patient_, visit_.sick, *visit_.treated);
    visit_.recovered = !ill;
    visit_.not_recovered = ill.value_or("");
    return {};
  }

  /// The report's remedies that a machine can apply did not suffice: what a person would do is the patient's own.
  Result<void> prescribe() {
    for (const Treatment& treatment : patient_.treatments) {
      Recipe recipe = patient_.recipe;
      for (const auto& [name, value] : treatment.changes) {
        if (auto done = set(recipe, name, value); !done) return done.error();
      }
      visit_.prescribed = true;
      visit_.treated_recipe = recipe;
      if (auto done = train_again(); !done) return done;
      if (visit_.recovered || visit_.treated->stopped) break;
    }
    return {};
  }

  Patient patient_;  // a copy: of a visitor's own recipe the expectation is what was found
  const Trainer& follow_;
  VisitOptions options_;
  Visit visit_;
};

}  // namespace

Recipe changed(Recipe recipe, const probes::Changes& changes) {
  for (const Remedy::Change& change : changes) {
    // Changes were tried before: one that does not fit any more leaves the recipe as it is.
    static_cast<void>(set(recipe, change.name, change.to));
  }
  return recipe;
}

probes::Cure cure(const Recipe& recipe, const Report& report, const Trainer& trainer, const VisitOptions& options) {
  int number = 0;
  probes::Forks forks;
  forks.can_apply = [&](const Remedy::Change& change) { return can_apply(recipe, change); };
  forks.run = [&](const probes::Changes& changes) {
    if (options.on_phase) options.on_phase("fork " + std::to_string(++number));
    TrainingOptions training = options.training;
    training.run_file.clear();
    training.on_line = {};
    training.steps = fork_steps(recipe, report, options.fork_share);
    auto result = trainer(changed(recipe, changes), training);
    return result ? probes::Fork{result->true_loss, std::move(result->report)} : probes::Fork{};
  };
  return treat(report, forks, options.treatment);
}

std::optional<std::string> still_ill(const Patient& patient, const TrainingResult& sick,
                                     const TrainingResult& treated) {
  const Recovery& recovery = patient.recovery;
  if (!std::isfinite(treated.true_loss)) return "its loss is not finite";
  if (recovery.accuracy && treated.true_accuracy.value_or(0) < *recovery.accuracy) {
    return fmt::format("its accuracy is {:.3f}, below {}", treated.true_accuracy.value_or(0), *recovery.accuracy);
  }
  if (recovery.loss && treated.true_loss > *recovery.loss) {
    return fmt::format("its loss is {:.4g}, above {}", treated.true_loss, *recovery.loss);
  }
  if (recovery.better_by && std::isfinite(sick.true_loss) && treated.true_loss > *recovery.better_by * sick.true_loss) {
    return fmt::format("its loss is {:.4g}, above {} of the sick one's {:.4g}", treated.true_loss, *recovery.better_by,
                       sick.true_loss);
  }
  if (recovery.finding_gone) {
    for (const Observation& observation : treated.report.findings) {
      if (observation.finding == patient.finding && is_warning(observation)) {
        return fmt::format("{} is still reported", patient.finding);
      }
    }
  }
  return std::nullopt;
}

Result<Visit> visit(const Patient& patient, const Trainer& trainer, const VisitOptions& options) {
  return Visiting(patient, trainer, options).run();
}

}  // namespace osler::gallery
