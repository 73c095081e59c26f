// Sick, diagnosed, treated, well.
#include "osler/gallery/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

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

CourseOptions named(CourseOptions options, std::string_view ending) {
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
    phase("sick");
    auto sick = follow_(patient_.recipe, options_.course);
    if (!sick) return sick.error();
    visit_.seed = options_.course.seed;
    visit_.sick = std::move(*sick);
    examine();
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
    CourseOptions course = named(options_.course, "-treated");
    auto treated = follow_(visit_.treated_recipe, course);
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

  const Patient& patient_;
  const Trainer& follow_;
  const VisitOptions& options_;
  Visit visit_;
};

}  // namespace

Recipe changed(Recipe recipe, const Changes& changes) {
  for (const Remedy::Change& change : changes) {
    // Changes were tried before: one that does not fit any more leaves the recipe as it is.
    static_cast<void>(set(recipe, change.name, change.to));
  }
  return recipe;
}

Cure cure(const Recipe& recipe, const Report& report, const Trainer& trainer, const VisitOptions& options) {
  int number = 0;
  Forks forks;
  forks.can_apply = [&](const Remedy::Change& change) { return can_apply(recipe, change); };
  forks.run = [&](const Changes& changes) {
    if (options.on_phase) options.on_phase("fork " + std::to_string(++number));
    CourseOptions course = options.course;
    course.run_file.clear();
    course.on_line = {};
    course.steps = fork_steps(recipe, report, options.fork_share);
    auto result = trainer(changed(recipe, changes), course);
    return result ? Fork{result->true_loss, std::move(result->report)} : Fork{};
  };
  return treat(report, forks, options.treatment);
}

std::optional<std::string> still_ill(const Patient& patient, const CourseResult& sick, const CourseResult& treated) {
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
