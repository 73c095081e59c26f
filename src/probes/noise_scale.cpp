// Signal and noise from all pairs of gradients, with a jackknife for the error.
#include "probes/noise_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "osler/stats/pair_stats.h"

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

/// All products of gradients with each other: everything the estimate and its jackknife need.
class Products {
 public:
  explicit Products(std::span<const double> table)
      : table_(table), count_(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(table.size()))))) {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::span<const double> row = table_.subspan(i * count_, count_);
      rows_.push_back(std::accumulate(row.begin(), row.end(), -row[i]));
      squares_ += row[i];
      dots_ += rows_.back();
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  /// Signal and noise from all pairs but those of gradient `without`.
  [[nodiscard]] stats::GradientNoise noise(double batch_size, std::optional<std::size_t> without = {}) const {
    const auto left = static_cast<double>(count_ - (without ? 1 : 0));
    stats::PairStats pair;  // the mean of all pairs stands for them: the estimate is linear in them
    pair.dot = (dots_ - (without ? 2 * rows_[*without] : 0)) / (left * (left - 1));
    pair.a_squared = (squares_ - (without ? table_[*without * count_ + *without] : 0)) / left;
    pair.b_squared = pair.a_squared;
    return stats::gradient_noise(std::span(&pair, 1), batch_size);
  }

  /// The standard error of the logarithm of the scale; nothing when leaving one gradient out takes the signal away.
  [[nodiscard]] std::optional<double> log_error(double batch_size) const {
    std::vector<double> logs;
    for (std::size_t i = 0; i < count_; ++i) {
      const double scale = noise(batch_size, i).scale();
      if (!std::isfinite(scale) || !(scale > 0)) return std::nullopt;
      logs.push_back(std::log(scale));
    }
    const auto n = static_cast<double>(logs.size());
    double mean = 0;
    for (const double log : logs) mean += log / n;
    double squares = 0;
    for (const double log : logs) squares += (log - mean) * (log - mean);
    return std::sqrt(squares * (n - 1) / n);
  }

 private:
  std::span<const double> table_;
  std::size_t count_;
  std::vector<double> rows_;  ///< the sum of each gradient's products with the others
  double squares_ = 0;
  double dots_ = 0;
};

double nearest_power_of_two(double value) {
  return std::exp2(std::round(std::log2(std::max(value, 1.0))));
}

/// "40", "700", "30,000": what a reader needs of a number that is an estimate itself.
std::string about(double value) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(value))));
  std::string digits = fmt::format("{:.0f}", std::ceil(value / unit) * unit);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// How many gradients would make an interval of `error` in the logarithm end before a limit that is `distance` away:
/// it shrinks with the root of their number.
double gradients_needed(std::size_t count, double error, double distance) {
  const double times = std::pow(2 * error / std::max(std::abs(distance), 1e-3), 2);
  return static_cast<double>(count) * std::max(times, 2.0);
}

}  // namespace

void write_noise_scale(std::span<const double> table, double batch_size, double factor, Experiment& experiment) {
  const Products products(table);
  stats::GradientNoise noise = products.noise(batch_size);
  // Equal gradients leave nothing but rounding.
  if (noise.noise <= 1e-9 * batch_size * std::max(noise.signal, 0.0)) noise.noise = 0;
  const double scale = noise.scale();
  const auto error = products.log_error(batch_size);
  experiment.values = {{"batch-size", batch_size, {}, {}},
                       {"gradients", static_cast<double>(products.count()), {}, {}},
                       {"gradient-signal", noise.signal, {}, {}},
                       {"gradient-noise", noise.noise, {}, {}}};
  experiment.outcome = Outcome::undecided;
  if (!std::isfinite(scale) || !(scale > 0) || !error) {
    experiment.verdict = noise.noise <= 0
                             ? "Every batch has the same gradient: there is no noise to measure."
                             : fmt::format(
                                   "{} gradients of different batches have nothing in common beyond chance: "
                                   "the noise scale is too large to measure, or the weights are at a minimum.",
                                   products.count());
    return;
  }
  const double spread = std::exp(2 * *error);
  const double suggested = nearest_power_of_two(scale);
  const double limit = factor * batch_size;
  experiment.values.push_back({"noise-scale", scale, scale / spread, scale * spread});
  experiment.verdict =
      fmt::format("The gradient noise scale is {:.3g} ({:.3g} to {:.3g}), the batch size {:.0f}: ", scale,
                  scale / spread, scale * spread, batch_size);
  if (scale / spread <= limit && limit < scale * spread) {
    const double needed = gradients_needed(products.count(), *error, std::log(scale / limit));
    experiment.values.push_back({"gradients-needed", needed, {}, {}});
    experiment.verdict += fmt::format(
        "{} gradients do not tell whether it is more than {:.3g} times the batch, where steps are mostly noise; about "
        "{} would.",
        products.count(), factor, about(needed));
    return;
  }
  experiment.values.push_back({"suggested-batch-size", suggested, {}, {}});
  const bool noisy = scale / spread > limit;
  experiment.outcome = noisy ? Outcome::failed : Outcome::passed;
  experiment.verdict +=
      noisy ? fmt::format(
                  "more than {:.3g} times the batch, so steps are mostly noise; batches of about {:.0f} would "
                  "make better use of the time. Late in a training this is usual, and a lower rate does as much.",
                  factor, suggested)
      : batch_size > factor * scale
          ? fmt::format("far more samples than a step needs; about {:.0f} would do.", suggested)
          : fmt::format("not more than {:.3g} times the batch, a sensible size.", factor);
}

bool wants_more_gradients(const Experiment& experiment) {
  return experiment.outcome == Outcome::undecided && experiment.value("gradient-noise").value_or(0) > 0;
}

}  // namespace osler::probes
