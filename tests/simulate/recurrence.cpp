// Back-propagation through time for a plain recurrent network.
#include <algorithm>
#include <cmath>

#include "simulate/trainer.h"

namespace osler::simulate {
namespace {

/// h[t] = relu(W h[t-1] + u x[t]); the answer v.h[T] must be the first input. ReLU lets the signal grow.
struct Recurrent {
  std::vector<float> w;
  std::vector<float> u;
  std::vector<float> v;
};

struct Gradient {
  Recurrent parts;
  double loss = 0;
};

constexpr std::size_t kBatch = 8;

void add_sample(const Recurrent& net, const std::vector<float>& inputs, std::size_t n, Gradient& sum) {
  const std::size_t length = inputs.size();
  std::vector<std::vector<float>> h(length + 1, std::vector<float>(n));
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t i = 0; i < n; ++i) {
      float z = net.u[i] * inputs[t];
      for (std::size_t j = 0; j < n; ++j) z += net.w[i * n + j] * h[t][j];
      h[t + 1][i] = z > 0.0F || std::isnan(z) ? z : 0.1F * z;
    }
  }
  float answer = 0;
  for (std::size_t i = 0; i < n; ++i) answer += net.v[i] * h[length][i];
  const float error = answer - inputs[0];
  sum.loss += static_cast<double>(error) * error / kBatch;
  std::vector<float> delta(n);
  for (std::size_t i = 0; i < n; ++i) {
    sum.parts.v[i] += 2.0F * error * h[length][i] / kBatch;
    delta[i] = 2.0F * error * net.v[i] / kBatch;
  }
  for (std::size_t t = length; t-- > 0;) {
    std::vector<float> before(n);
    for (std::size_t i = 0; i < n; ++i) {
      const float d = delta[i] * (h[t + 1][i] > 0.0F ? 1.0F : 0.1F);
      sum.parts.u[i] += d * inputs[t];
      for (std::size_t j = 0; j < n; ++j) {
        sum.parts.w[i * n + j] += d * h[t][j];
        before[j] += d * net.w[i * n + j];
      }
    }
    delta = std::move(before);
  }
}

double squared(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

void move(std::vector<float>& values, const std::vector<float>& gradient, double rate) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= static_cast<float>(rate) * gradient[i];
}

}  // namespace

std::vector<TrainedRow> train_recurrent(const Recurrence& training, Random& random) {
  const std::size_t n = training.hidden;
  Recurrent net{std::vector<float>(n * n), std::vector<float>(n), std::vector<float>(n)};
  const double deviation = training.init / std::sqrt(static_cast<double>(n));
  for (float& value : net.w) value = static_cast<float>(deviation * random.normal());
  for (float& value : net.u) value = static_cast<float>(random.normal() * 0.3);
  for (float& value : net.v) value = static_cast<float>(random.normal() * 0.3);
  std::vector<TrainedRow> rows;
  TrainedRow row;
  double inside = 0;
  for (std::size_t step = 0; step < training.steps; ++step) {
    Gradient sum{{std::vector<float>(n * n), std::vector<float>(n), std::vector<float>(n)}, 0};
    for (std::size_t s = 0; s < kBatch; ++s) {
      std::vector<float> inputs(training.length);
      for (float& value : inputs) value = static_cast<float>(random.normal() * 0.1);
      inputs[0] = static_cast<float>(random.normal());
      add_sample(net, inputs, n, sum);
    }
    const double norm = std::sqrt(squared(sum.parts.w) + squared(sum.parts.u) + squared(sum.parts.v));
    const double factor = training.clip > 0.0 && norm > training.clip ? training.clip / norm : 1.0;
    move(net.w, sum.parts.w, training.rate * factor);
    move(net.u, sum.parts.u, training.rate * factor);
    move(net.v, sum.parts.v, training.rate * factor);
    inside += 1;
    row.train_loss += (sum.loss - row.train_loss) / inside;
    row.gradient_norm = norm;
    if ((step + 1) % training.log_every != 0) continue;
    row.step = static_cast<std::int64_t>(step + 1);
    row.rate = training.rate;
    rows.push_back(row);
    row = {};
    inside = 0;
  }
  return rows;
}

}  // namespace osler::simulate
