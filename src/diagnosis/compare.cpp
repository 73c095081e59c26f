// Comparing two runs: series by series on a common axis, then what their configurations and findings differ in.
#include "osler/diagnosis/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "diagnosis/alignment.h"
#include "diagnosis/reading.h"
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
constexpr std::array kCompared = {Role::learning_rate,   Role::gradient_norm,     Role::train_loss,
                                  Role::validation_loss, Role::train_accuracy,    Role::validation_accuracy,
                                  Role::train_metric,    Role::validation_metric, Role::reward,
                                  Role::loss_scale};

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

std::optional<SeriesComparison> compare_series(const Cast& a, const Cast& b, const Alignment& alignment,
                                               const CompareOptions& options) {
  const bool up = a.guess.higher_is_better;
  const Reading reading_a = read_series(*a.series, up);
  const Reading reading_b = read_series(*b.series, up);
  signal::Curve curve_a = as_logged(reading_a);
  signal::Curve curve_b = as_logged(reading_b);
  if (curve_a.empty() || curve_b.empty()) return std::nullopt;
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
  compared.a.ending = ending_of(reading_a);
  compared.b.ending = ending_of(reading_b);
  if (is_loss(compared.role)) {
    compared.a.floor = floor_of(reading_a);
    compared.b.floor = floor_of(reading_b);
  }
  return compared;
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

/// The series by which runs are judged: validation before training, a loss before a metric.
const SeriesComparison* judge_of(const Comparison& comparison) {
  for (const Role role :
       {Role::validation_loss, Role::validation_accuracy, Role::validation_metric, Role::reward, Role::train_loss}) {
    for (const SeriesComparison& series : comparison.series) {
      if (series.role == role) return &series;
    }
  }
  return nullptr;
}

Standing standing_of(const Comparison& comparison, const CompareOptions& options) {
  const SeriesComparison* judge = judge_of(comparison);
  if (judge == nullptr) return Standing::unclear;
  if (!std::isfinite(judge->difference)) return Standing::unclear;
  const double gain = std::max(std::abs(judge->a.start - judge->a.end), std::abs(judge->b.start - judge->b.end));
  const bool apart =
      judge->difference_score >= options.score && std::abs(judge->difference) >= options.effect_share * gain;
  if (!apart) return Standing::same;
  return (judge->difference > 0) == judge->higher_is_better ? Standing::better : Standing::worse;
}

std::string place(const Comparison& comparison, double at) {
  const std::string where(to_string(comparison.axis));
  return where + " " + number(comparison.axis == Axis::epoch ? at : std::round(at));
}

std::string name_of(const SeriesComparison& series) {
  return series.a.series == series.b.series ? series.a.series : series.a.series + " / " + series.b.series;
}

void write_facts(Comparison& comparison) {
  std::vector<std::string>& facts = comparison.facts;
  if (comparison.first) {
    const SeriesComparison& first = comparison.series[*comparison.first];
    comparison.headline = "They part first in " + name_of(first) + ", at " + place(comparison, first.parting->at) +
                          ": " + number(first.parting->a) + " against " + number(first.parting->b) + ".";
    for (std::size_t i = 0; i < comparison.series.size(); ++i) {
      const SeriesComparison& series = comparison.series[i];
      if (i == *comparison.first || !series.parting) continue;
      facts.push_back(name_of(series) + " parts at " + place(comparison, series.parting->at) + ": " +
                      number(series.parting->a) + " against " + number(series.parting->b) + ".");
    }
  } else {
    comparison.headline = "The runs do not part beyond noise in any series they share.";
  }
  for (const SeriesComparison& series : comparison.series) {
    if (!series.identical_until) continue;
    facts.push_back(*series.identical_until >= comparison.to
                        ? name_of(series) + " is the very same in both."
                        : name_of(series) + " is the very same in both up to " +
                              place(comparison, *series.identical_until) + ": same seed, same data, same start.");
  }
  const SeriesComparison* judge = judge_of(comparison);
  if (judge == nullptr) return;
  if (judge->a.ending && judge->b.ending) {
    const auto told = [](const Ending& ending) {
      return std::string(to_string(ending.motion)) + " since step " + number(std::round(ending.since));
    };
    facts.push_back("In " + name_of(*judge) + " the first run " + told(*judge->a.ending) + ", the second " +
                    told(*judge->b.ending) + ".");
  }
  const std::string where = " at " + place(comparison, comparison.to) + ", the end of what they share";
  const std::string gap =
      number(std::abs(judge->difference)) + " (" + number(judge->difference_score) + " standard errors)";
  switch (comparison.standing) {
    case Standing::worse:
      facts.push_back("The second run is worse than the first by " + gap + " in " + name_of(*judge) + where + ".");
      break;
    case Standing::better:
      facts.push_back("The second run is better than the first by " + gap + " in " + name_of(*judge) + where + ".");
      break;
    case Standing::same:
      facts.push_back("The second run is not better than the first: " + name_of(*judge) + " differs by " + gap + where +
                      ".");
      break;
    case Standing::unclear:
      break;
  }
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

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::same:
      return "same";
    case Standing::better:
      return "better";
    case Standing::worse:
      return "worse";
    case Standing::unclear:
      break;
  }
  return "unclear";
}

Result<Comparison> compare(const Run& a, const Run& b, const CompareOptions& options) {
  const auto roles_a = RoleMap::infer(a, options.diagnosis.roles);
  if (!roles_a) return roles_a.error();
  const auto roles_b = RoleMap::infer(b, options.diagnosis.roles);
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
  const auto end = [&](const Run& run, const ToAxis& map) { return map(static_cast<double>(run.steps().last)); };
  const auto begin = [&](const Run& run, const ToAxis& map) { return map(static_cast<double>(run.steps().first)); };
  comparison.from = std::max(begin(a, alignment->a), begin(b, alignment->b));
  comparison.to = std::min(end(a, alignment->a), end(b, alignment->b));
  comparison.config = config_differences(a, b);
  comparison.only_a = only_in(comparison.a, comparison.b);
  comparison.only_b = only_in(comparison.b, comparison.a);
  comparison.standing = standing_of(comparison, options);
  write_facts(comparison);
  return comparison;
}

}  // namespace osler
