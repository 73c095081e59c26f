// Which axis two runs share, and their curves cut into the same cells of it.
#include "diagnosis/alignment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "signal/noise.h"

namespace osler {
namespace {

// Strides through the data that differ by more than this make steps a poor axis.
constexpr double kSameStride = 0.05;
constexpr std::size_t kMostCells = 120;
// Fewer values of a curve in a cell than this on average and cells grow.
constexpr double kPointsPerCell = 2;

/// Series that count what the model has seen, in the words of the common trainers.
constexpr std::array<std::string_view, 10> kTokenWords = {
    "tokens",  "num_tokens",   "tokens_seen",      "total_tokens", "consumed_tokens", "num_input_tokens_seen",
    "samples", "samples_seen", "consumed_samples", "num_samples"};

const Series* token_series(const Run& run) {
  for (const Series& series : run.all_series()) {
    std::string name = series.name().substr(series.name().find_last_of("/.") + 1);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    if (std::find(kTokenWords.begin(), kTokenWords.end(), name) != kTokenWords.end()) return &series;
  }
  return nullptr;
}

/// The series as a map from step to value, linear between its points and beyond its ends; nothing unless it rises.
std::optional<ToAxis> rising_map(const Series* series) {
  if (series == nullptr) return std::nullopt;
  signal::Curve curve = signal::curve_of(series->summary());
  if (curve.size() < 2 || !std::is_sorted(curve.value.begin(), curve.value.end()) ||
      !(curve.value.back() > curve.value.front())) {
    return std::nullopt;
  }
  return [curve = std::move(curve)](double step) {
    const auto after = std::upper_bound(curve.step.begin(), curve.step.end(), step);
    const auto last = static_cast<std::ptrdiff_t>(curve.size()) - 1;
    const auto right = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(after - curve.step.begin(), 1, last));
    const double share = (step - curve.step[right - 1]) / (curve.step[right] - curve.step[right - 1]);
    return curve.value[right - 1] + share * (curve.value[right] - curve.value[right - 1]);
  };
}

struct Pair {
  std::optional<ToAxis> a;
  std::optional<ToAxis> b;
  [[nodiscard]] bool whole() const { return a && b; }
};

/// How many units of the axis a step is worth in either run, b's as a multiple of a's.
double stride_ratio(const Pair& maps) {
  constexpr double kFar = 1e6;
  const double a = ((*maps.a)(kFar) - (*maps.a)(0));
  const double b = ((*maps.b)(kFar) - (*maps.b)(0));
  return a > 0 && b > 0 ? b / a : 1;
}

bool strides_differ(const Pair& maps) {
  return maps.whole() && std::abs(std::log(stride_ratio(maps))) > kSameStride;
}

/// A curve's points on the axis.
std::vector<double> places(const signal::Curve& curve, const ToAxis& to_axis) {
  std::vector<double> x;
  x.reserve(curve.size());
  for (const double step : curve.step) x.push_back(to_axis(step));
  return x;
}

/// The mean of the points inside a cell, and its standard error.
struct Level {
  double mean = 0;
  double error = 0;
  double points = 0;
};

Level level_in(const signal::Curve& curve, const std::vector<double>& x, const signal::Noise& noise, double from,
               double to, bool last) {
  const auto begin = std::lower_bound(x.begin(), x.end(), from);
  const auto end = last ? std::upper_bound(begin, x.end(), to) : std::lower_bound(begin, x.end(), to);
  Level level;
  double weights = 0;
  for (auto at = begin; at != end; ++at) {
    const auto i = static_cast<std::size_t>(at - x.begin());
    level.mean += curve.count[i] * curve.value[i];
    weights += curve.count[i];
    level.points += 1;
  }
  if (level.points == 0) return level;
  level.mean /= weights;
  // Noise is larger where the curve is steep or wild: the scatter around here counts when it is.
  const auto first = static_cast<std::size_t>(begin - x.begin());
  const std::size_t near_from = first > 8 ? first - 8 : 0;
  const std::size_t near_to = std::min(curve.size(), static_cast<std::size_t>(end - x.begin()) + 8);
  const double near = signal::difference_noise(std::span(curve.value).subspan(near_from, near_to - near_from));
  const double independent = std::max(1.0, signal::effective_count(level.points, noise.lag1));
  level.error = std::max(noise.sigma, near) / std::sqrt(std::min(independent, level.points));
  return level;
}

}  // namespace

std::string_view to_string(Axis axis) {
  switch (axis) {
    case Axis::automatic:
      return "auto";
    case Axis::epoch:
      return "epoch";
    case Axis::tokens:
      return "tokens";
    case Axis::step:
      break;
  }
  return "step";
}

std::optional<Axis> axis_from(std::string_view name) {
  for (const Axis axis : {Axis::automatic, Axis::step, Axis::epoch, Axis::tokens}) {
    if (to_string(axis) == name) return axis;
  }
  return std::nullopt;
}

Result<Alignment> align(const Run& a, const RoleMap& roles_a, const Run& b, const RoleMap& roles_b, Axis wanted) {
  const ToAxis same = [](double step) { return step; };
  const Pair tokens{rising_map(token_series(a)), rising_map(token_series(b))};
  const Pair epochs{rising_map(roles_a.first(Role::epoch)), rising_map(roles_b.first(Role::epoch))};
  if (wanted == Axis::automatic) {
    wanted = strides_differ(tokens) ? Axis::tokens : strides_differ(epochs) ? Axis::epoch : Axis::step;
  }
  if (wanted == Axis::step) return Alignment{wanted, same, same};
  const Pair& maps = wanted == Axis::tokens ? tokens : epochs;
  if (maps.whole()) return Alignment{wanted, *maps.a, *maps.b};
  const Run& without = maps.a ? b : a;
  return Error{ErrorCode::invalid_argument,
               "has no rising series of " + std::string(wanted == Axis::tokens ? "tokens or samples" : "epochs"),
               without.name};
}

std::vector<AxisCell> cells_of(const signal::Curve& a, const ToAxis& to_a, const signal::Curve& b, const ToAxis& to_b) {
  if (a.empty() || b.empty()) return {};
  const std::vector<double> x_a = places(a, to_a);
  const std::vector<double> x_b = places(b, to_b);
  const double from = std::max(x_a.front(), x_b.front());
  const double to = std::min(x_a.back(), x_b.back());
  if (!(from <= to)) return {};
  const auto inside = [&](const std::vector<double>& x) {
    return static_cast<double>(std::count_if(x.begin(), x.end(), [&](double at) { return at >= from && at <= to; }));
  };
  const double fewest = std::min(inside(x_a), inside(x_b));
  const auto count = static_cast<std::size_t>(std::clamp(fewest / kPointsPerCell, 1.0, double{kMostCells}));
  const signal::Noise noise_a = signal::noise_of(a.value);
  const signal::Noise noise_b = signal::noise_of(b.value);
  std::vector<AxisCell> cells;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(count);
    const double left = from + (to - from) * static_cast<double>(i) / share;
    const double right = from + (to - from) * static_cast<double>(i + 1) / share;
    const bool last = i + 1 == count;
    const Level in_a = level_in(a, x_a, noise_a, left, right, last);
    const Level in_b = level_in(b, x_b, noise_b, left, right, last);
    if (in_a.points == 0 || in_b.points == 0) continue;
    cells.push_back({left, right, in_a.mean, in_b.mean, std::hypot(in_a.error, in_b.error)});
  }
  return cells;
}

}  // namespace osler
