// Comparing two runs: series by series on a common axis, then what their configurations and findings differ in.
#include "osler/diagnosis/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "diagnosis/alignment.h"
#include "diagnosis/reading.h"
#include "diagnosis/standing.h"
#include "diagnosis/wording.h"
#include "signal/forecast.h"
#include "signal/phases.h"
#include "signal/robust.h"

namespace osler {
namespace {

// A parting must last: of this many cells from there on, that many must lie as far apart on the same side.
constexpr std::size_t kStays = 5;
constexpr std::size_t kStaysAtLeast = 4;
constexpr double kStayingShareOfScore = 0.6;
// Without noise, as with learning rates, a relative difference of this size is one.
constexpr double kExact = 1e-6;
constexpr double kDecade = 10;

/// Roles worth comparing, in the order in which they are told.
constexpr std::array kCompared = {Role::learning_rate,     Role::gradient_norm,     Role::train_loss,
                                  Role::validation_loss,   Role::train_accuracy,    Role::validation_accuracy,
                                  Role::train_metric,      Role::validation_metric, Role::reward,
                                  Role::evaluation_reward, Role::generator_loss,    Role::discriminator_loss,
                                  Role::policy_loss,       Role::value_loss,        Role::loss_scale};

/// Words in the names of what steers training, which are shown before paths and names.
constexpr std::array<std::string_view, 16> kSteering = {"lr",    "learning", "batch", "optim",    "schedul", "warm",
                                                        "decay", "clip",     "seed",  "dropout",  "model",   "hidden",
                                                        "layer", "depth",    "dtype", "precision"};

/// Which series of b stands against a series of a: the one of the same name, else the first of the same role.
const Cast* partner(const Cast& cast, const std::vector<Cast>& others, bool first) {
  const auto same = std::find_if(others.begin(), others.end(),
                                 [&](const Cast& other) { return other.series->name() == cast.series->name(); });
  if (same != others.end()) return &*same;
  return first && !others.empty() ? &others.front() : nullptr;
}

double gain_of(const std::vector<AxisCell>& cells) {
  double low = cells.front().a;
  double high = low;
  for (const AxisCell& cell : cells) {
    low = std::min({low, cell.a, cell.b});
    high = std::max({high, cell.a, cell.b});
  }
  return high - low;
}

double score_of(const AxisCell& cell) {
  const double difference = cell.b - cell.a;
  if (difference == 0) return 0;
  const double scale = std::max(std::abs(cell.a), std::abs(cell.b));
  const double error = std::max(cell.error, kExact * scale);
  return difference / error;
}

/// The first cell from which the runs lie apart for good, or at least for a while.
std::optional<Parting> parting_of(const std::vector<AxisCell>& cells, const CompareOptions& options) {
  const double matters = options.effect_share * gain_of(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double score = score_of(cells[i]);
    if (std::abs(score) < options.score || std::abs(cells[i].b - cells[i].a) < matters) continue;
    const std::size_t end = std::min(cells.size(), i + kStays);
    const auto stays = [&](const AxisCell& cell) {
      const double there = score_of(cell);
      return there * score > 0 && std::abs(there) >= kStayingShareOfScore * options.score;
    };
    const auto lasting = static_cast<std::size_t>(std::count_if(
        cells.begin() + static_cast<std::ptrdiff_t>(i), cells.begin() + static_cast<std::ptrdiff_t>(end), stays));
    if (lasting + (kStays - kStaysAtLeast) < end - i) continue;
    return Parting{cells[i].from, std::abs(score), cells[i].a, cells[i].b};
  }
  return std::nullopt;
}

std::optional<double> identical_until(const std::vector<AxisCell>& cells) {
  const auto differs = std::find_if(cells.begin(), cells.end(), [](const AxisCell& cell) { return cell.a != cell.b; });
  if (differs == cells.begin()) return std::nullopt;
  return std::prev(differs)->to;
}

/// `value` picks the run's level out of a cell.
Side side_of(const Reading& reading, const std::vector<AxisCell>& cells, double AxisCell::*value) {
  Side side;
  side.series = reading.name;
  side.start = cells.front().*value;
  side.best = side.start;
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double level = cells[i].*value;
    side.best = reading.negated ? std::max(side.best, level) : std::min(side.best, level);
    if (2 * i < cells.size()) continue;
    x.push_back(cells[i].from);
    y.push_back(level);
  }
  const std::size_t tail = std::max<std::size_t>(1, cells.size() / 10);
  std::vector<double> end;
  for (std::size_t i = cells.size() - tail; i < cells.size(); ++i) end.push_back(cells[i].*value);
  side.end = signal::median(end);
  side.slope = x.size() > 2 ? signal::trend_of(x, y).change : 0;
  return side;
}

bool is_loss(Role role) {
  return role == Role::train_loss || role == Role::validation_loss;
}

/// Where a loss is heading; nothing when the fit says that a loss that cannot be negative would be.
std::optional<double> floor_of(const Reading& reading) {
  const auto forecast = signal::forecast_of(reading.curve.step, reading.curve.value);
  if (!forecast || (forecast->floor < 0 && reading.best > 0)) return std::nullopt;
  return forecast->floor;
}

/// The last phase of a curve that should go down.
std::optional<Ending> ending_of(const Reading& reading) {
  const std::vector<signal::Phase> phases = signal::phases_of(reading.curve);
  if (phases.empty()) return std::nullopt;
  // Pieces with the same motion are one to the reader.
  std::size_t first = phases.size() - 1;
  while (first > 0 && phases[first - 1].motion == phases.back().motion) --first;
  constexpr Ending::Motion kMotions[] = {Ending::Motion::improves, Ending::Motion::stands, Ending::Motion::worsens};
  return Ending{kMotions[static_cast<std::size_t>(phases.back().motion)], reading.curve.step[phases[first].first]};
}

/// The same curve with the signs of the log.
signal::Curve as_logged(const Reading& reading) {
  return reading.negated ? signal::negated(reading.curve) : reading.curve;
}

/// Values that stay above zero and span a decade are compared by their logarithms: their noise scales with the level.
bool is_logarithmic(const signal::Curve& a, const signal::Curve& b) {
  double low = a.value.front();
  double high = low;
  for (const signal::Curve* curve : {&a, &b}) {
    const auto [least, most] = std::minmax_element(curve->value.begin(), curve->value.end());
    low = std::min(low, *least);
    high = std::max(high, *most);
  }
  return low > 0 && high > kDecade * low;
}

void take_logarithms(signal::Curve& curve) {
  for (double& value : curve.value) value = std::log(value);
}

void back_from_logarithms(SeriesComparison& compared) {
  for (Side* side : {&compared.a, &compared.b}) {
    side->slope = std::exp(side->end) - std::exp(side->end - side->slope);
    for (double* value : {&side->start, &side->best, &side->end}) *value = std::exp(*value);
  }
  compared.difference = compared.b.end - compared.a.end;
  if (!compared.parting) return;
  compared.parting->a = std::exp(compared.parting->a);
  compared.parting->b = std::exp(compared.parting->b);
}

// A stretch without a finite value is the end of a series when it is so many times longer than any before it: where a
// log has NaN for "not measured", such stretches come all along.
constexpr double kLostStretch = 3;

/// The step of the last finite value, when the series goes on without any.
std::optional<double> lost_after(const Reading& reading, const Series& series) {
  if (reading.nonfinite == 0 || !reading.ends_nonfinite) return std::nullopt;
  if (reading.curve.empty()) return static_cast<double>(reading.first_step);
  double last = reading.curve.step.back();
  for (const auto& point : series.summary().recent()) {
    if (std::isfinite(point.value)) last = std::max(last, static_cast<double>(point.step));
  }
  double longest = 0;
  for (std::size_t i = 1; i < reading.curve.size(); ++i) {
    longest = std::max(longest, reading.curve.step[i] - reading.curve.step[i - 1]);
  }
  if (static_cast<double>(reading.last_step) - last <= kLostStretch * longest) return std::nullopt;
  return last;
}

/// A series that one of the runs has without a single finite value; nothing when both have some.
std::optional<SeriesComparison> without_values(const Cast& a, const Reading& reading_a, const Cast& b,
                                               const Reading& reading_b) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (reading_a.curve.empty() == reading_b.curve.empty()) return std::nullopt;
  SeriesComparison compared;
  compared.role = a.guess.role;
  compared.higher_is_better = a.guess.higher_is_better;
  const auto side = [&](const Reading& reading, const Series& series) {
    Side told;
    told.series = reading.name;
    const bool none = reading.curve.empty();
    told.start = none ? kNone : reading.shown(reading.start);
    told.best = none ? kNone : reading.shown(reading.best);
    told.end = told.last = none ? kNone : reading.shown(reading.end);
    told.lost_after = lost_after(reading, series);
    return told;
  };
  compared.a = side(reading_a, *a.series);
  compared.b = side(reading_b, *b.series);
  if (!compared.a.lost_after && !compared.b.lost_after) return std::nullopt;
  compared.difference = kNone;
  return compared;
}

std::optional<SeriesComparison> compare_series(const Cast& a, const Cast& b, const Alignment& alignment,
                                               const CompareOptions& options) {
  const bool up = a.guess.higher_is_better;
  const Reading reading_a = read_series(*a.series, up);
  const Reading reading_b = read_series(*b.series, up);
  signal::Curve curve_a = as_logged(reading_a);
  signal::Curve curve_b = as_logged(reading_b);
  if (curve_a.empty() || curve_b.empty()) return without_values(a, reading_a, b, reading_b);
  const bool logarithmic = is_logarithmic(curve_a, curve_b);
  if (logarithmic) {
    take_logarithms(curve_a);
    take_logarithms(curve_b);
  }
  const std::vector<AxisCell> cells = cells_of(curve_a, alignment.a, curve_b, alignment.b);
  if (cells.empty()) return std::nullopt;
  SeriesComparison compared;
  compared.role = a.guess.role;
  compared.higher_is_better = up;
  compared.a = side_of(reading_a, cells, &AxisCell::a);
  compared.b = side_of(reading_b, cells, &AxisCell::b);
  const std::size_t tail = std::max<std::size_t>(1, cells.size() / 10);
  AxisCell end{0, 0, compared.a.end, compared.b.end, 0};
  for (std::size_t i = cells.size() - tail; i < cells.size(); ++i) end.error = std::max(end.error, cells[i].error);
  end.error /= std::sqrt(static_cast<double>(tail));
  compared.difference = end.b - end.a;
  compared.difference_score = std::abs(score_of(end));
  compared.parting = parting_of(cells, options);
  compared.identical_until = identical_until(cells);
  if (logarithmic) back_from_logarithms(compared);
  compared.to = cells.back().to;
  compared.a.last = reading_a.shown(reading_a.end);
  compared.b.last = reading_b.shown(reading_b.end);
  compared.a.lost_after = lost_after(reading_a, *a.series);
  compared.b.lost_after = lost_after(reading_b, *b.series);
  compared.a.ending = ending_of(reading_a);
  compared.b.ending = ending_of(reading_b);
  if (is_loss(compared.role)) {
    compared.a.floor = floor_of(reading_a);
    compared.b.floor = floor_of(reading_b);
  }
  return compared;
}

/// Notes which objectives of a run have no values to its end, where its report says so: NaN may be written as nothing.
void take_silence(const Run& run, const Report& report, Side SeriesComparison::*side, Comparison& comparison) {
  for (const Observation& finding : report.findings) {
    if (finding.finding != "loss-nonfinite-later" || finding.evidence.empty()) continue;
    const Evidence& evidence = finding.evidence.front();
    const Series* loss = run.find(evidence.series);
    if (loss == nullptr || loss->summary().empty() || loss->summary().last_step() >= evidence.last_step) continue;
    for (SeriesComparison& series : comparison.series) {
      if ((series.*side).series == evidence.series) {
        (series.*side).lost_after = static_cast<double>(loss->summary().last_step());
      }
    }
  }
}

void compare_all_series(const RoleMap& roles_a, const RoleMap& roles_b, const Alignment& alignment,
                        const CompareOptions& options, Comparison& comparison) {
  for (const Role role : kCompared) {
    bool first = true;
    for (const Cast& cast : roles_a.in(role)) {
      const Cast* other = partner(cast, roles_b.in(role), std::exchange(first, false));
      if (other == nullptr) continue;
      if (auto compared = compare_series(cast, *other, alignment, options)) {
        comparison.series.push_back(std::move(*compared));
      }
    }
  }
  for (std::size_t i = 0; i < comparison.series.size(); ++i) {
    const auto& parting = comparison.series[i].parting;
    if (parting && (!comparison.first || parting->at < comparison.series[*comparison.first].parting->at)) {
      comparison.first = i;
    }
  }
}

std::vector<ConfigDifference> config_differences(const Run& a, const Run& b) {
  std::vector<ConfigDifference> differences;
  const auto& config_a = a.configuration();
  const auto& config_b = b.configuration();
  for (const auto& [key, value] : config_a) {
    if (is_experiment_key(key)) continue;
    const auto other = config_b.find(key);
    if (other == config_b.end() || other->second != value) {
      differences.push_back({key, value, other == config_b.end() ? "" : other->second});
    }
  }
  for (const auto& [key, value] : config_b) {
    if (config_a.count(key) == 0 && !is_experiment_key(key)) differences.push_back({key, "", value});
  }
  const auto steers = [](const ConfigDifference& difference) {
    return std::any_of(kSteering.begin(), kSteering.end(),
                       [&](std::string_view word) { return difference.key.find(word) != std::string::npos; });
  };
  std::stable_partition(differences.begin(), differences.end(), steers);
  return differences;
}

/// Findings of `report` that `other` does not have.
std::vector<std::string> only_in(const Report& report, const Report& other) {
  std::set<std::string> known;
  for (const Observation& finding : other.findings) known.insert(finding.finding);
  std::vector<std::string> only;
  for (const Observation& finding : report.findings) {
    if (known.count(finding.finding) == 0) only.push_back(finding.finding);
  }
  return only;
}

void tell_lost(const Side& side, const char* which, std::vector<std::string>& facts) {
  if (!side.lost_after) return;
  facts.push_back("In the " + std::string(which) + " run " + side.series + " has no finite value" + lost_since(side) +
                  (std::isfinite(side.start) ? ": what is told of its end is the level before that." : "."));
}

void write_facts(Comparison& comparison) {
  std::vector<std::string>& facts = comparison.facts;
  // That a run died or broke off says more than where the curves part.
  const bool by_fate = comparison.reason != StandingReason::difference;
  std::string parts = "The runs do not part beyond noise in any series they share.";
  if (comparison.first) {
    const SeriesComparison& first = comparison.series[*comparison.first];
    parts = "They part first in " + name_of(first) + ", at " + place_on(comparison.axis, first.parting->at) + ": " +
            number(first.parting->a) + " against " + number(first.parting->b) + ".";
  }
  comparison.headline = by_fate ? comparison.verdict : parts;
  if (by_fate) facts.push_back(parts);
  for (std::size_t i = 0; i < comparison.series.size(); ++i) {
    const SeriesComparison& series = comparison.series[i];
    if (i == comparison.first || !series.parting) continue;
    facts.push_back(name_of(series) + " parts at " + place_on(comparison.axis, series.parting->at) + ": " +
                    number(series.parting->a) + " against " + number(series.parting->b) + ".");
  }
  for (const SeriesComparison& series : comparison.series) {
    if (!series.identical_until) continue;
    facts.push_back(*series.identical_until >= series.to ? name_of(series) + " is the very same in both."
                                                         : name_of(series) + " is the very same in both up to " +
                                                               place_on(comparison.axis, *series.identical_until) +
                                                               ": same seed, same data, same start.");
  }
  for (const SeriesComparison& series : comparison.series) {
    tell_lost(series.a, "first", facts);
    tell_lost(series.b, "second", facts);
  }
  const SeriesComparison* judge = judge_of(comparison);
  const bool lost = judge != nullptr && (judge->a.lost_after || judge->b.lost_after);
  if (judge != nullptr && !lost && judge->a.ending && judge->b.ending) {
    const auto told = [](const Ending& ending) {
      return std::string(to_string(ending.motion)) + " since " + at_step(std::llround(ending.since));
    };
    facts.push_back("In " + name_of(*judge) + " the first run " + told(*judge->a.ending) + ", the second " +
                    told(*judge->b.ending) + ".");
  }
  if (!by_fate && !comparison.verdict.empty()) facts.push_back(comparison.verdict);
}

}  // namespace

std::string_view to_string(Ending::Motion motion) {
  switch (motion) {
    case Ending::Motion::improves:
      return "improves";
    case Ending::Motion::stands:
      return "stands still";
    case Ending::Motion::worsens:
      break;
  }
  return "gets worse";
}

Result<Comparison> compare(const Run& a, const Run& b, const CompareOptions& options) {
  const auto roles_a = RoleMap::infer(a, roles_for(a, options.diagnosis));
  if (!roles_a) return roles_a.error();
  const auto roles_b = RoleMap::infer(b, roles_for(b, options.diagnosis));
  if (!roles_b) return roles_b.error();
  auto report_a = diagnose(a, options.diagnosis);
  if (!report_a) return report_a.error();
  auto report_b = diagnose(b, options.diagnosis);
  if (!report_b) return report_b.error();
  const auto alignment = align(a, *roles_a, b, *roles_b, options.axis);
  if (!alignment) return alignment.error();

  Comparison comparison;
  comparison.a = std::move(*report_a);
  comparison.b = std::move(*report_b);
  comparison.axis = alignment->axis;
  compare_all_series(*roles_a, *roles_b, *alignment, options, comparison);
  if (comparison.series.empty()) {
    return Error{ErrorCode::not_found, "the runs have no series in common that can be laid side by side",
                 a.name + ", " + b.name};
  }
  take_silence(a, comparison.a, &SeriesComparison::a, comparison);
  take_silence(b, comparison.b, &SeriesComparison::b, comparison);
  const auto end = [&](const Run& run, const ToAxis& map) { return map(static_cast<double>(run.steps().last)); };
  const auto begin = [&](const Run& run, const ToAxis& map) { return map(static_cast<double>(run.steps().first)); };
  comparison.from = std::max(begin(a, alignment->a), begin(b, alignment->b));
  comparison.to = std::min(end(a, alignment->a), end(b, alignment->b));
  double farthest = comparison.from;
  for (const SeriesComparison& series : comparison.series) farthest = std::max(farthest, series.to);
  comparison.to = std::min(comparison.to, farthest);
  comparison.config = config_differences(a, b);
  comparison.only_a = only_in(comparison.a, comparison.b);
  comparison.only_b = only_in(comparison.b, comparison.a);
  set_standing(comparison, end(a, alignment->a), end(b, alignment->b), options);
  write_facts(comparison);
  return comparison;
}

}  // namespace osler
