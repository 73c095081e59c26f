// Extending the curve, the margins that held on runs that were cut, and where the end lies.
#include "diagnosis/prognosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/epochs.h"
#include "diagnosis/prognosis_table.h"
#include "diagnosis/rates.h"
#include "diagnosis/wording.h"
#include "signal/forecast.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kFewest = 16;     // points that can tell a decay
constexpr double kMostAhead = 2.5;      // lengths of the known stretch
constexpr double kSettling = 0.05;      // share of the points at the start that follow no decay yet
constexpr double kRecent = 0.5;         // share of the points at the start that a second look leaves out
constexpr double kOfChange = 0.25;      // share of the expected change that counts as doubtful whatever fits
constexpr double kOfLevel = 0.002;      // share of the level below which nothing is told apart
constexpr double kWorthTelling = 0.02;  // share of the plan that must be left
constexpr double kWidest = 0.2;         // share of the level that the scale of the doubt may be

/// The level of a curve's last points, and how uncertain it is.
std::pair<double, double> end_level(const signal::Curve& curve) {
  const std::size_t last = std::max<std::size_t>(3, curve.size() / 20);
  const double sigma = signal::noise_of(curve.value).sigma;
  return {signal::median(std::span(curve.value).last(last)), 1.25 * sigma / std::sqrt(static_cast<double>(last))};
}

/// The straight line or the half cosine from the peak of a rate that ends at zero, whichever it follows to the digit.
std::optional<double> zero_of_rate(const RateCurve& rate) {
  constexpr double kBegun = 0.97;   // share of the peak below which a decay can be told
  constexpr double kExact = 0.004;  // of the peak, by which no rate may miss its schedule
  const auto& step = rate.curve.step;
  const auto& value = rate.curve.value;
  const auto peak_at = static_cast<std::size_t>(std::max_element(value.begin(), value.end()) - value.begin());
  const double peak = value[peak_at];
  const double last = value.back() / peak;
  if (value.size() < peak_at + kFewest / 2 || !(last < kBegun) || !(last > 0)) return std::nullopt;
  const double from = step[peak_at];
  const auto follows = [&](double length, auto shape) {
    for (std::size_t i = peak_at; i < value.size(); ++i) {
      if (std::abs(value[i] / peak - shape((step[i] - from) / length)) > kExact) return false;
    }
    return true;
  };
  const double gone = step.back() - from;
  const double by_line = gone / (1 - last);
  if (follows(by_line, [](double x) { return 1 - x; })) return from + by_line;
  const double by_cosine = gone * M_PI / std::acos(2 * last - 1);
  if (follows(by_cosine, [](double x) { return 0.5 * (1 + std::cos(M_PI * x)); })) return from + by_cosine;
  return std::nullopt;
}

/// Where the last of `planned` epochs ends on the axis of the log: steps with the epochs beside them, or the epochs
/// themselves, which shows where every row has been validated.
std::optional<double> end_of_epochs(const Patient& patient, double planned) {
  const Series* series = epoch_series(patient);
  if (series == nullptr) {
    constexpr double kEach = 0.8;  // share of the rows with a validation
    const Reading* validation = patient.validation();
    const Reading* training = patient.training();
    if (validation == nullptr || training == nullptr) return std::nullopt;
    if (validation->curve.points() < kEach * training->curve.points()) return std::nullopt;
    return planned;
  }
  const signal::Curve epoch = signal::curve_of(series->summary());
  if (epoch.empty() || !(epoch.value.back() > 0)) return std::nullopt;
  const bool whole = std::all_of(epoch.value.begin(), epoch.value.end(), [](double e) { return e == std::floor(e); });
  if (!whole) return epoch.step.back() * planned / epoch.value.back();
  // Whole numbers tell only where an epoch begins.
  std::vector<double> begins;
  for (std::size_t i = 1; i < epoch.size(); ++i) {
    if (epoch.value[i] == epoch.value[i - 1] + 1) begins.push_back(epoch.step[i]);
  }
  if (begins.size() < 2) return std::nullopt;
  const double length = (begins.back() - begins.front()) / static_cast<double>(begins.size() - 1);
  return epoch.step.front() + planned * length;
}

const MarginRow& margin_for(double ahead) {
  const auto rows = margin_table();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const MarginRow& each) { return ahead <= each.most_ahead; });
  return row != rows.end() ? *row : rows.back();
}

const Reading* foreseen_curve(const Patient& patient) {
  if (patient.reinforcement() || patient.adversarial() || patient.by_quality()) return nullptr;
  return patient.training() != nullptr ? patient.training() : patient.validation();
}

}  // namespace

std::optional<Foresight> foresee(const signal::Curve& curve, double step) {
  if (curve.size() < kFewest) return std::nullopt;
  const double length = curve.step.back() - curve.step.front();
  Foresight foresight;
  foresight.ahead = (step - curve.step.back()) / length;
  if (!(foresight.ahead > 0) || foresight.ahead > kMostAhead) return std::nullopt;
  const std::vector<double> smooth = signal::running_median(curve.value, std::max<std::size_t>(1, curve.size() / 60));
  const auto from = [&](double share) {
    const auto first = static_cast<std::size_t>(share * static_cast<double>(curve.size()));
    return signal::prospect_at(std::span(curve.step).subspan(first), std::span(smooth).subspan(first), step);
  };
  const auto whole = from(kSettling);
  if (!whole) return std::nullopt;
  // What holds for the whole curve and what holds lately are two honest readings; their difference is doubt.
  const signal::Prospect recent = from(kRecent).value_or(*whole);
  const auto [now, blur] = end_level(curve);
  foresight.now = now;
  foresight.value = std::min(now, (whole->value + recent.value) / 2);
  foresight.scale = std::hypot(whole->spread, recent.spread, whole->value - recent.value) + blur +
                    kOfChange * (now - foresight.value) + kOfLevel * std::abs(now);
  return foresight;
}

Prospects within(const Foresight& foresight, const MarginRow& margin) {
  return {foresight.value + margin.low * foresight.scale, foresight.value + margin.high * foresight.scale};
}

bool worth_telling(const Foresight& foresight) {
  return foresight.scale <= kWidest * std::abs(foresight.now);
}

std::optional<PlannedEnd> planned_end(const Patient& patient) {
  const double last = static_cast<double>(patient.run().steps().last);
  const auto ahead = [&](double step) { return step > (1 + kWorthTelling) * last; };
  for (const char* name : {"max_steps", "total_steps", "num_training_steps", "max_iters", "train_iters"}) {
    const auto steps = patient.configured({name});
    if (!steps || !(*steps > 0)) continue;
    if (!ahead(*steps)) return std::nullopt;
    // Where the log counts epochs, a number of steps is no place on its axis.
    const auto epochs = patient.configured({"num_train_epochs", "max_epochs", "num_epochs", "epochs", "n_epochs"});
    if (epochs && last <= *epochs) break;
    return PlannedEnd{*steps, fmt::format("{} {}", name, std::llround(*steps))};
  }
  for (const char* name : {"num_train_epochs", "max_epochs", "num_epochs", "epochs", "n_epochs"}) {
    const auto epochs = patient.configured({name});
    if (!epochs || !(*epochs > 0)) continue;
    const auto end = end_of_epochs(patient, *epochs);
    if (!end || !ahead(*end)) return std::nullopt;
    return PlannedEnd{*end, fmt::format("{} {:.10g}", name, *epochs)};
  }
  const auto rate = main_rate(patient);
  const auto zero = rate ? zero_of_rate(*rate) : std::nullopt;
  if (!zero || !ahead(*zero)) return std::nullopt;
  return PlannedEnd{*zero, "where the learning rate reaches zero"};
}

std::optional<Prognosis> prognosis_of(const Patient& patient) {
  const Reading* reading = foreseen_curve(patient);
  if (reading == nullptr || reading->ends_nonfinite) return std::nullopt;
  const auto end = planned_end(patient);
  if (!end) return std::nullopt;
  const auto foresight = foresee(reading->curve, end->step);
  if (!foresight) return std::nullopt;
  if (!worth_telling(*foresight)) return std::nullopt;
  const Prospects range = within(*foresight, margin_for(foresight->ahead));
  Prognosis prognosis;
  prognosis.series = reading->name;
  prognosis.step = std::llround(end->step);
  prognosis.from = end->from;
  prognosis.now = reading->shown(foresight->now);
  prognosis.low = reading->shown(range.low);
  prognosis.high = reading->shown(range.high);
  const double first = static_cast<double>(std::max<std::int64_t>(0, patient.run().steps().first));
  prognosis.left = (end->step - static_cast<double>(patient.run().steps().last)) / (end->step - first);
  prognosis.text = fmt::format(
      "{} is {} now and will be {} to {} at step {} ({}), nine times in ten, if training goes "
      "on as it does. To stop here saves {} of the run.",
      prognosis.series, number(prognosis.now), number(prognosis.low), number(prognosis.high), prognosis.step,
      prognosis.from, per_cent(prognosis.left));
  return prognosis;
}

}  // namespace osler
