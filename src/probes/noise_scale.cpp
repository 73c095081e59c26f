// Signal and noise from all pairs of gradients, with a jackknife for the error.
#include "probes/noise_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "osler/stats/pair_stats.h"

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

/// All products of gradients with each other: everything the estimate and its jackknife need.
class Products {
 public:
  explicit Products(std::span<const double> table)
      : table_(table), count_(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(table.size()))))) {}

  /// Signal and noise from all pairs but those of gradient `without`.
  [[nodiscard]] stats::GradientNoise noise(double batch_size, std::optional<std::size_t> without = {}) const {
    std::vector<stats::PairStats> pairs;
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t k = i + 1; k < count_; ++k) {
        if (i == without || k == without) continue;
        stats::PairStats pair;
        pair.dot = table_[i * count_ + k];
        pair.a_squared = table_[i * count_ + i];
        pair.b_squared = table_[k * count_ + k];
        pairs.push_back(pair);
      }
    }
    return stats::gradient_noise(pairs, batch_size);
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
};

double nearest_power_of_two(double value) {
  return std::exp2(std::round(std::log2(std::max(value, 1.0))));
}

}  // namespace

void write_noise_scale(std::span<const double> table, double batch_size, double factor, Experiment& experiment) {
  const Products products(table);
  const stats::GradientNoise noise = products.noise(batch_size);
  const double scale = noise.scale();
  const auto error = products.log_error(batch_size);
  experiment.values = {{"batch-size", batch_size, {}, {}},
                       {"gradient-signal", noise.signal, {}, {}},
                       {"gradient-noise", noise.noise, {}, {}}};
  if (!std::isfinite(scale) || !(scale > 0) || !error) {
    experiment.outcome = Outcome::undecided;
    experiment.verdict = noise.noise <= 0
                             ? "Every batch has the same gradient: there is no noise to measure."
                             : "The gradients of different batches have nothing in common beyond chance: the noise "
                               "scale is too large to measure, or the weights are at a minimum.";
    return;
  }
  const double spread = std::exp(2 * *error);
  const double suggested = nearest_power_of_two(scale);
  experiment.values.push_back({"noise-scale", scale, scale / spread, scale * spread});
  experiment.values.push_back({"suggested-batch-size", suggested, {}, {}});
  const bool noisy = scale / spread > factor * batch_size;
  experiment.outcome = noisy ? Outcome::failed : Outcome::passed;
  experiment.verdict =
      fmt::format("The gradient noise scale is {:.3g} ({:.3g} to {:.3g}), the batch size {:.0f}: ", scale,
                  scale / spread, scale * spread, batch_size);
  experiment.verdict += noisy ? fmt::format(
                                    "steps are mostly noise; batches of about {:.0f} would make better use of "
                                    "the time.",
                                    suggested)
                        : batch_size > factor * scale
                            ? fmt::format("far more samples than a step needs; about {:.0f} would do.", suggested)
                            : "a sensible size.";
}

}  // namespace osler::probes
