// Synthetic data sets for the small trainer.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulate/trainer.h"

namespace osler::simulate {
namespace {

constexpr std::size_t kValidation = 400;

}  // namespace

Task blobs(Random& random, std::size_t classes, std::size_t features, std::size_t training, double spread) {
  Task task;
  task.features = features;
  task.outputs = classes;
  task.training = training;
  std::vector<double> centres(classes * features);
  for (double& value : centres) value = random.normal();
  for (std::size_t i = 0; i < training + kValidation; ++i) {
    const auto label = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(classes) - 1));
    task.labels.push_back(static_cast<int>(label));
    for (std::size_t j = 0; j < features; ++j) {
      task.inputs.push_back(static_cast<float>(centres[label * features + j] + spread * random.normal()));
    }
  }
  return task;
}

Task spirals(Random& random, std::size_t classes, std::size_t training, double winding) {
  constexpr double kBlur = 0.05;
  Task task;
  task.features = 2;
  task.outputs = classes;
  task.training = training;
  for (std::size_t i = 0; i < training + kValidation; ++i) {
    const auto label = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(classes) - 1));
    const double radius = random.uniform(0.1, 1.0);
    const double angle = 6.2831853 * static_cast<double>(label) / static_cast<double>(classes) + winding * radius;
    task.labels.push_back(static_cast<int>(label));
    task.inputs.push_back(static_cast<float>(2.0 * radius * std::cos(angle) + kBlur * random.normal()));
    task.inputs.push_back(static_cast<float>(2.0 * radius * std::sin(angle) + kBlur * random.normal()));
  }
  return task;
}

Task regression(Random& random, std::size_t features, std::size_t training, double noise) {
  Task task;
  task.features = features;
  task.outputs = 1;
  task.training = training;
  std::vector<double> first(features);
  std::vector<double> second(features);
  for (double& value : first) value = random.normal();
  for (double& value : second) value = random.normal();
  for (std::size_t i = 0; i < training + kValidation; ++i) {
    double a = 0;
    double b = 0;
    for (std::size_t j = 0; j < features; ++j) {
      const double x = random.normal();
      task.inputs.push_back(static_cast<float>(x));
      a += x * first[j];
      b += x * second[j];
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(features));
    task.targets.push_back(static_cast<float>(a * scale + std::sin(2.0 * b * scale) + noise * random.normal()));
  }
  return task;
}

void spoil_labels(Task& task, double share, Random& random) {
  for (std::size_t i = 0; i < task.training; ++i) {
    if (random.chance(share)) {
      task.labels[i] = static_cast<int>(random.integer(0, static_cast<std::int64_t>(task.outputs) - 1));
    }
  }
}

void sort_by_label(Task& task) {
  std::vector<std::size_t> order(task.training);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return task.labels[a] < task.labels[b]; });
  Task sorted = task;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.labels[i] = task.labels[order[i]];
    std::copy_n(task.inputs.begin() + static_cast<std::ptrdiff_t>(order[i] * task.features), task.features,
                sorted.inputs.begin() + static_cast<std::ptrdiff_t>(i * task.features));
  }
  task = std::move(sorted);
}

}  // namespace osler::simulate
