// The formulas, and the assembly of ordinary runs from them.
#include "simulate/shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace osler::simulate {

double Descent::operator()(double progress) const {
  const double slow = std::pow(1.0 + stretch * progress, -power);
  const double fast = std::exp(-rate * progress);
  return floor + (start - floor) * ((1.0 - exponential) * slow + exponential * fast);
}

Descent any_descent(Random& random) {
  Descent descent;
  descent.start = random.uniform(0.97, 1.15);
  descent.floor = random.uniform(0.02, 0.6);
  descent.power = random.uniform(0.3, 1.2);
  descent.stretch = random.log_uniform(8.0, 2000.0);
  descent.rate = random.uniform(2.0, 12.0);
  descent.exponential = random.pick({0.0, 0.0, 0.5, 1.0});
  return descent;
}

Descent steady_descent(Random& random) {
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.02, 0.4);
  descent.stretch = random.log_uniform(2.0, 15.0);
  descent.rate = random.uniform(1.5, 4.0);
  return descent;
}

Levels along(const Descent& descent, const Axis& axis) {
  Levels levels(axis.rows());
  const double first = axis.progress(0);
  for (std::size_t row = 0; row < levels.size(); ++row) levels[row] = descent(axis.progress(row) - first);
  return levels;
}

double smooth_step(double progress, double at, double width) {
  return 1.0 / (1.0 + std::exp(-(progress - at) / (0.2 * width)));
}

Levels accuracies(const Levels& losses, double floor, const AccuracyModel& model, Random& random) {
  const double chance = 1.0 / model.classes;
  Levels result(losses.size());
  for (std::size_t row = 0; row < losses.size(); ++row) {
    const double left = std::clamp((losses[row] - floor) / (1.0 - floor), 0.0, 1.0);
    // A wrong answer costs at least ln 2, and losses are in units of ln(classes): so many must be right.
    const double least = 1 - losses[row] * std::log(model.classes) / std::numbers::ln2;
    const double truth = std::max(least, model.best - (model.best - chance) * std::pow(left, model.bend));
    result[row] = static_cast<double>(random.binomial(model.samples, std::clamp(truth, 0.0, 1.0))) /
                  static_cast<double>(model.samples);
  }
  return result;
}

Levels gradient_norms(const Levels& losses, Random& random) {
  const double unit = random.log_uniform(0.02, 20.0);
  const double follow = random.uniform(0.0, 0.8);
  const double drift = random.uniform(-0.4, 0.7);  // norms of healthy runs often grow slowly
  const double spread = random.log_uniform(0.05, 0.35);
  Levels result(losses.size());
  for (std::size_t row = 0; row < losses.size(); ++row) {
    const double progress = static_cast<double>(row) / static_cast<double>(losses.size());
    const double level = std::max(1e-3, std::abs(losses[row]));
    result[row] = unit * std::pow(level, follow) * std::exp(drift * progress) * std::exp(spread * random.normal());
  }
  return result;
}

Levels healthy_validation(Random& random, const Levels& train) {
  const double gap = random.chance(0.3) ? 0.0 : random.log_uniform(0.005, 0.3);
  const double delay = random.uniform(0.0, 0.1);
  const double first = train.front();
  const double last = train.back();
  Levels validation(train.size());
  for (std::size_t row = 0; row < train.size(); ++row) {
    const double late = (1.0 - delay) * train[row] + delay * train[row / 2];
    // Never rising on its own: the gap takes a share of the way down, it does not add to the loss.
    const double way = std::max(0.0, (first - late) / std::max(1e-9, first - last));
    validation[row] = late + gap * (first - last) * std::min(1.0, way);
  }
  return validation;
}

Ordinary ordinary(Random& random, Axis axis, const LossScale& scale, Levels train, Levels validation) {
  Ordinary run;
  run.noise = any_noise(random, axis);
  // What the run achieves must be visible above its noise, or nobody could call it healthy.
  const double achieved = *std::max_element(train.begin(), train.end()) - *std::min_element(train.begin(), train.end());
  const double most = achieved / (train.size() < 40 ? 8.0 : 3.0);
  run.noise.relative = std::min(run.noise.relative, most);
  run.noise.absolute = std::min(run.noise.absolute, most);
  run.validation_noise = run.noise;
  run.validation_noise.relative *= random.uniform(0.1, 0.8);
  run.validation_noise.periodic = 0;
  // Token accuracies are rarely logged: no accuracy for vocabularies.
  if (scale.classes > 0 && scale.classes <= 1000 && random.chance(0.7)) run.best_accuracy = random.uniform(0.6, 0.995);
  if (random.chance(0.3)) run.gradient = gradient_norms(train, random);
  if (random.chance(0.2)) run.smoothing = random.uniform(0.5, 0.98);
  run.running_mean = !axis.per_epoch() && run.smoothing == 0.0 && random.chance(0.1);
  run.floor = std::max(0.0, train.back());
  run.axis = std::move(axis);
  run.scale = scale;
  run.train = std::move(train);
  run.validation = std::move(validation);
  return run;
}

Draft draft_of(Random& random, const Ordinary& run) {
  Draft draft(random, run.axis);
  Levels train = scattered(run.train, run.noise, run.axis, random);
  if (run.smoothing > 0.0) train = smoothed(train, run.smoothing);
  if (run.running_mean) train = running_means(train, run.axis);
  draft.add(Quantity::train_loss, train, run.scale);
  if (!run.validation.empty()) {
    draft.add(Quantity::validation_loss, scattered(run.validation, run.validation_noise, run.axis, random), run.scale);
  }
  if (run.best_accuracy > 0.0) {
    const double chance = 1.0 / std::max(2, run.scale.classes);
    const AccuracyModel model{std::max(2, run.scale.classes), std::max(run.best_accuracy, chance + 0.1),
                              random.uniform(0.7, 1.5), random.log_integer(200, 50000)};
    draft.add(Quantity::train_accuracy, accuracies(run.train, run.floor, model, random));
    if (!run.validation.empty()) {
      const double floor = std::min(run.floor, *std::min_element(run.validation.begin(), run.validation.end()));
      draft.add(Quantity::validation_accuracy, accuracies(run.validation, floor, model, random));
    }
  }
  if (!run.rates.empty()) draft.add(Quantity::learning_rate, run.rates);
  if (!run.gradient.empty()) draft.add(Quantity::gradient_norm, run.gradient);
  return draft;
}

}  // namespace osler::simulate
