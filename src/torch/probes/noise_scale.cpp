// The gradient noise scale from several gradients at the same weights.
#include "osler/torch/noise_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "osler/stats/pair_stats.h"
#include "torch/probes/lanczos.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_loss.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

/// All products of gradients with each other: everything the estimate and its jackknife need.
class Products {
 public:
  explicit Products(const at::Tensor& gradients)
      : table_(gradients.to(at::kDouble).matmul(gradients.to(at::kDouble).t()).cpu().contiguous()),
        count_(gradients.size(0)) {}

  /// Signal and noise from all pairs but those of gradient `without`; -1 leaves none out.
  [[nodiscard]] stats::GradientNoise noise(double batch_size, std::int64_t without = -1) const {
    const auto cells = table_.accessor<double, 2>();
    std::vector<stats::PairStats> pairs;
    for (std::int64_t i = 0; i < count_; ++i) {
      for (std::int64_t k = i + 1; k < count_; ++k) {
        if (i == without || k == without) continue;
        stats::PairStats pair;
        pair.dot = cells[i][k];
        pair.a_squared = cells[i][i];
        pair.b_squared = cells[k][k];
        pairs.push_back(pair);
      }
    }
    return stats::gradient_noise(pairs, batch_size);
  }

  /// The standard error of the logarithm of the scale; nothing when leaving one gradient out takes the signal away.
  [[nodiscard]] std::optional<double> log_error(double batch_size) const {
    std::vector<double> logs;
    for (std::int64_t i = 0; i < count_; ++i) {
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
  at::Tensor table_;
  std::int64_t count_;
};

double nearest_power_of_two(double value) {
  return std::exp2(std::round(std::log2(std::max(value, 1.0))));
}

void judge(const Products& products, double batch_size, const NoiseScaleOptions& options, Experiment& experiment) {
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
  const bool noisy = scale / spread > options.factor * batch_size;
  experiment.outcome = noisy ? Outcome::failed : Outcome::passed;
  experiment.verdict =
      fmt::format("The gradient noise scale is {:.3g} ({:.3g} to {:.3g}), the batch size {:.0f}: ", scale,
                  scale / spread, scale * spread, batch_size);
  experiment.verdict += noisy ? fmt::format(
                                    "steps are mostly noise; batches of about {:.0f} would make better use of "
                                    "the time.",
                                    suggested)
                        : batch_size > options.factor * scale
                            ? fmt::format("far more samples than a step needs; about {:.0f} would do.", suggested)
                            : "a sensible size.";
}

}  // namespace

Experiment gradient_noise_scale(const Training& training, const NoiseScaleOptions& options, const Limits& limits) {
  if (options.batches < 3) throw std::invalid_argument("gradient-noise-scale: at least 3 batches are needed.");
  return run_probe(
      "gradient-noise-scale", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
        Training counted = training;
        double samples = 0;
        counted.next_batch = [&] {
          Batch batch = training.next_batch();
          samples += batch.inputs.defined() && batch.inputs.dim() > 0 ? static_cast<double>(batch.inputs.size(0)) : 1;
          return batch;
        };
        SurfaceLoss surface(counted, options.batches, /*evaluation_mode=*/false);
        const int kept = std::min(options.batches, std::max(3, most_vectors(surface.size())));
        std::vector<at::Tensor> gradients;
        for (int i = 0; i < kept; ++i) {
          clock.check();
          gradients.push_back(surface.gradient_of(static_cast<std::size_t>(i)).detach());
        }
        judge(Products(at::stack(gradients)), samples / options.batches, options, experiment);
      });
}

double scaled_learning_rate(double learning_rate, double batch, double new_batch, BatchScaling scaling) {
  if (!(batch > 0) || !(new_batch > 0)) {
    throw std::invalid_argument("scaled_learning_rate: batch sizes must be above zero.");
  }
  const double factor = new_batch / batch;
  return learning_rate * (scaling == BatchScaling::linear ? factor : std::sqrt(factor));
}

}  // namespace osler::torch
