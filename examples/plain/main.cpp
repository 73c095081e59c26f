// A network written by hand, without any framework, that Osler watches while it learns.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "osler/history/training_history.h"
#include "osler/report/render.h"

namespace {

/// A fully connected layer: outputs = activation(weights * inputs + biases).
struct Layer {
  Layer(std::string name, std::size_t inputs, std::size_t outputs, std::mt19937& random)
      : name(std::move(name)), inputs(inputs), outputs(outputs), weights(inputs * outputs), biases(outputs) {
    std::normal_distribution<float> start(0, std::sqrt(2.0F / static_cast<float>(inputs)));
    for (float& weight : weights) weight = start(random);
  }

  std::string name;
  std::size_t inputs;
  std::size_t outputs;
  std::vector<float> weights;
  std::vector<float> biases;
  std::vector<float> weight_gradients;
  std::vector<float> bias_gradients;
  std::vector<float> activations;  // of the whole batch, one row for each sample
};

/// Two spirals that wind around each other: which one does a point lie on?
struct Spirals {
  std::vector<float> points;  // x and y
  std::vector<int> labels;
};

Spirals make_spirals(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.05F);
  std::uniform_real_distribution<float> along(0.25F, 1);
  Spirals spirals;
  for (std::size_t i = 0; i < count; ++i) {
    const int label = static_cast<int>(i % 2);
    const float radius = along(random);
    const float angle = radius * 6 + static_cast<float>(label) * 3.14159F;
    spirals.points.push_back(radius * std::cos(angle) + noise(random));
    spirals.points.push_back(radius * std::sin(angle) + noise(random));
    spirals.labels.push_back(label);
  }
  return spirals;
}

class Network {
 public:
  explicit Network(std::mt19937& random) {
    layers.emplace_back("hidden1", 2, 32, random);
    layers.emplace_back("hidden2", 32, 32, random);
    layers.emplace_back("output", 32, 2, random);
  }

  void forward(const std::vector<float>& batch, std::size_t samples) {
    const std::vector<float>* input = &batch;
    for (Layer& layer : layers) {
      const bool last = &layer == &layers.back();
      layer.activations.assign(samples * layer.outputs, 0);
      for (std::size_t s = 0; s < samples; ++s) {
        for (std::size_t o = 0; o < layer.outputs; ++o) {
          float sum = layer.biases[o];
          for (std::size_t i = 0; i < layer.inputs; ++i) {
            sum += layer.weights[o * layer.inputs + i] * (*input)[s * layer.inputs + i];
          }
          layer.activations[s * layer.outputs + o] = last ? sum : std::max(sum, 0.0F);
        }
      }
      input = &layer.activations;
    }
  }

  /// The cross-entropy of the batch; leaves the gradients in the layers.
  double backward(const std::vector<float>& batch, const std::vector<int>& labels) {
    const std::size_t samples = labels.size();
    std::vector<float> slope = layers.back().activations;
    double loss = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      const float a = slope[2 * s];
      const float b = slope[2 * s + 1];
      const float top = std::max(a, b);
      const float sum = std::exp(a - top) + std::exp(b - top);
      for (std::size_t c = 0; c < 2; ++c) {
        const float share = std::exp(slope[2 * s + c] - top) / sum;
        const bool right = labels[s] == static_cast<int>(c);
        if (right) loss -= std::log(share);
        slope[2 * s + c] = (share - (right ? 1.0F : 0.0F)) / static_cast<float>(samples);
      }
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      slope = backward_layer(layers[l], l > 0 ? layers[l - 1].activations : batch, slope, samples, l > 0);
    }
    return loss / static_cast<double>(samples);
  }

  void step(float rate) {
    for (Layer& layer : layers) {
      for (std::size_t i = 0; i < layer.weights.size(); ++i) layer.weights[i] -= rate * layer.weight_gradients[i];
      for (std::size_t i = 0; i < layer.biases.size(); ++i) layer.biases[i] -= rate * layer.bias_gradients[i];
    }
  }

  std::vector<Layer> layers;

 private:
  static std::vector<float> backward_layer(Layer& layer, const std::vector<float>& input,
                                           const std::vector<float>& slope, std::size_t samples, bool pass_on) {
    layer.weight_gradients.assign(layer.weights.size(), 0);
    layer.bias_gradients.assign(layer.biases.size(), 0);
    std::vector<float> before(samples * layer.inputs, 0);
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t o = 0; o < layer.outputs; ++o) {
        const float now = slope[s * layer.outputs + o];
        layer.bias_gradients[o] += now;
        for (std::size_t i = 0; i < layer.inputs; ++i) {
          const float x = input[s * layer.inputs + i];
          layer.weight_gradients[o * layer.inputs + i] += now * x;
          if (pass_on && x > 0) before[s * layer.inputs + i] += now * layer.weights[o * layer.inputs + i];
        }
      }
    }
    return before;
  }
};

double norm_of_gradients(const Network& network) {
  double sum = 0;
  for (const Layer& layer : network.layers) {
    for (const float g : layer.weight_gradients) sum += static_cast<double>(g) * g;
    for (const float g : layer.bias_gradients) sum += static_cast<double>(g) * g;
  }
  return std::sqrt(sum);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: osler_example_plain RUN.osler [RATE]\n";
    return 2;
  }
  const float rate = count > 2 ? std::strtof(arguments[2], nullptr) : 0.3F;
  std::mt19937 random(7);
  const Spirals data = make_spirals(400, random);
  Network network(random);

  osler::HistoryOptions options;
  options.name = "two spirals";
  options.file = arguments[1];
  auto history = osler::TrainingHistory::open(std::move(options));
  if (!history) {
    std::cerr << osler::describe(history.error()) << "\n";
    return 2;
  }
  history->config("lr", std::to_string(rate));
  for (std::int64_t step = 0; step < 600; ++step) {
    network.forward(data.points, data.labels.size());
    const double loss = network.backward(data.points, data.labels);
    history->record(step, {.loss = loss,
                           .gradient_norm = norm_of_gradients(network),
                           .learning_rate = rate,
                           .accuracy = {},
                           .validation_loss = {},
                           .validation_accuracy = {}});
    if (step % 10 == 0) {
      for (const Layer& layer : network.layers) {
        history->tensor(step, osler::TensorKind::gradient, layer.name, layer.weight_gradients);
        history->tensor(step, osler::TensorKind::weight, layer.name, layer.weights);
        history->tensor(step, osler::TensorKind::activation, layer.name, layer.activations);
      }
      const auto verdict = history->quick_check();
      if (verdict && verdict->sick()) {
        std::cout << "stopped at step " << step << ": " << verdict->headline << "\n\n";
        break;
      }
    }
    network.step(rate);
  }
  const auto report = history->report();
  if (!report) {
    std::cerr << osler::describe(report.error()) << "\n";
    return 2;
  }
  std::cout << osler::render_text(*report, {});
  const auto closed = history->close();
  if (!closed) std::cerr << osler::describe(closed.error()) << "\n";
  return closed && report->status != osler::Status::critical ? 0 : 1;
}
