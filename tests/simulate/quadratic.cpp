// Steps the modes of the noisy quadratic model, many steps at once where the rate is constant.
#include "simulate/quadratic.h"

#include <cmath>

namespace osler::simulate {
namespace {

struct Mode {
  double curvature = 1;
  double error = 1;   // distance from the training optimum
  double beyond = 0;  // distance from the training optimum back to the true one
};

std::vector<Mode> make_modes(const Quadratic& task) {
  std::vector<Mode> modes(task.modes);
  double total = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double depth = static_cast<double>(i) / static_cast<double>(modes.size() - 1);
    modes[i].curvature = std::pow(10.0, -task.decades * depth);
    total += std::pow(modes[i].curvature, task.exponent);
  }
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double share = (1.0 - task.floor) * std::pow(modes[i].curvature, task.exponent) / total;
    modes[i].error = std::sqrt(2.0 * share / modes[i].curvature);
    const double depth = static_cast<double>(i) / static_cast<double>(modes.size() - 1);
    modes[i].beyond = task.overshoot * depth * modes[i].error;
  }
  return modes;
}

/// Several steps at one rate: the error shrinks geometrically, the noise adds up geometrically.
void advance(Mode& mode, double rate, double steps, double noise_variance, Random& random) {
  const double factor = 1.0 - rate * mode.curvature;
  const double square = factor * factor;
  double decay = std::pow(std::abs(factor), steps);
  if (factor < 0.0 && static_cast<std::int64_t>(steps) % 2 == 1) decay = -decay;
  const double per_step = rate * rate * mode.curvature * noise_variance;
  const double added =
      std::abs(1.0 - square) < 1e-9 ? per_step * steps : per_step * (1.0 - std::pow(square, steps)) / (1.0 - square);
  mode.error = mode.error * decay + std::sqrt(added) * random.normal();
}

}  // namespace

QuadraticCurves train_quadratic(const Quadratic& task, const Levels& rates, Random& random) {
  std::vector<Mode> modes = make_modes(task);
  // At a small rate r a mode's noise settles at an excess loss of r * variance / 4; shared among the modes.
  const double noise_variance = 4.0 * task.gradient_noise / static_cast<double>(modes.size());
  QuadraticCurves curves;
  for (const double rate : rates) {
    double train = task.floor;
    double validation = task.floor;
    double gradient = 0;
    for (Mode& mode : modes) {
      train += 0.5 * mode.curvature * mode.error * mode.error;
      const double distance = mode.error - mode.beyond;
      validation += 0.5 * mode.curvature * distance * distance;
      gradient += mode.curvature * mode.curvature * mode.error * mode.error;
      advance(mode, rate, task.steps_per_row, noise_variance, random);
    }
    curves.train.push_back(train);
    curves.validation.push_back(validation);
    curves.gradient.push_back(std::sqrt(gradient));
  }
  return curves;
}

}  // namespace osler::simulate
