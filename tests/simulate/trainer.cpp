// Forward, backward, update: dense networks.
#include "simulate/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace osler::simulate {
namespace {

using Floats = std::vector<float>;

/// One dense layer; weights are stored input by input, so that both products run along memory.
struct Layer {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  Floats weights;
  Floats gradient;
  Floats first_moment;
  Floats second_moment;
  bool hidden = true;

  Layer(std::size_t in, std::size_t out, bool is_hidden) : inputs(in), outputs(out), hidden(is_hidden) {
    weights.resize((in + 1) * out);  // the last row is the bias
    gradient.resize(weights.size());
    first_moment.resize(weights.size());
    second_moment.resize(weights.size());
  }
};

using Network = std::vector<Layer>;

Network make_network(const Task& task, const Training& training, Random& random) {
  Network network;
  std::size_t width = task.features;
  for (const std::size_t next : training.hidden) {
    network.emplace_back(width, next, true);
    width = next;
  }
  network.emplace_back(width, task.outputs, false);
  for (Layer& layer : network) {
    const double gain = training.activation == Activation::relu ? 2.0 : 1.0;
    const double deviation = training.init * std::sqrt(gain / static_cast<double>(layer.inputs));
    const std::size_t bias = layer.inputs * layer.outputs;
    for (std::size_t i = 0; i < bias; ++i) layer.weights[i] = static_cast<float>(deviation * random.normal());
    if (!layer.hidden) continue;
    for (std::size_t i = bias; i < layer.weights.size(); ++i) {
      layer.weights[i] = static_cast<float>(training.hidden_bias);
    }
  }
  return network;
}

float activate(float x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return x > 0.0F || std::isnan(x) ? x : 0.0F;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1.0F / (1.0F + std::exp(-x));
  }
  return x;
}

/// The derivative, from the activation's own output.
float slope(float y, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return y > 0.0F ? 1.0F : 0.0F;
    case Activation::tanh:
      return 1.0F - y * y;
    case Activation::sigmoid:
      return y * (1.0F - y);
  }
  return 1.0F;
}

/// The activations of one batch, layer by layer; the first entry is the input.
using Tape = std::vector<Floats>;

void forward(const Network& network, Activation activation, std::size_t batch, double dropout, Tape& tape,
             Random& random) {
  tape.resize(network.size() + 1);
  for (std::size_t l = 0; l < network.size(); ++l) {
    const Layer& layer = network[l];
    const Floats& in = tape[l];
    Floats& out = tape[l + 1];
    out.resize(batch * layer.outputs);
    const float* bias = layer.weights.data() + layer.inputs * layer.outputs;
    for (std::size_t s = 0; s < batch; ++s) {
      float* row = out.data() + s * layer.outputs;
      std::copy_n(bias, layer.outputs, row);
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const float value = in[s * layer.inputs + i];
        const float* weights = layer.weights.data() + i * layer.outputs;
        for (std::size_t o = 0; o < layer.outputs; ++o) row[o] += value * weights[o];
      }
    }
    if (!layer.hidden) continue;
    const auto keep = static_cast<float>(1.0 / (1.0 - dropout));
    for (float& value : out) {
      value = activate(value, activation);
      if (dropout > 0.0) value = random.chance(dropout) ? 0.0F : value * keep;
    }
  }
}

struct LossResult {
  double loss = 0;
  double accuracy = 0;
};

/// Softmax cross-entropy of one example; turns `row` into the gradient with respect to the logits.
LossResult cross_entropy(float* row, std::size_t classes, int label, bool naive) {
  const auto chosen = static_cast<std::size_t>(label);
  const std::size_t best = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
  const float top = naive ? 0.0F : row[best];
  float sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += std::exp(row[c] - top);
  const float chosen_logit = row[chosen];
  for (std::size_t c = 0; c < classes; ++c) row[c] = std::exp(row[c] - top) / sum;
  const float p = row[chosen];
  const double loss = naive ? -std::log(p) : std::log(sum) + top - chosen_logit;
  // The hand-written loss differentiates log(p) and the quotient one after the other: 0 times 1/0 where p vanished.
  const float outer = naive ? 1.0F / p : 0.0F;
  for (std::size_t c = 0; c < classes; ++c) {
    const float hot = c == chosen ? 1.0F : 0.0F;
    row[c] = naive ? outer * p * (row[c] - hot) : row[c] - hot;
  }
  return {loss, best == chosen ? 1.0 : 0.0};
}

/// Mean loss over a batch; the last entry of the tape becomes its gradient.
LossResult loss_and_gradient(const Task& task, const std::vector<std::size_t>& examples, bool naive, Floats& outputs) {
  LossResult mean;
  const auto share = 1.0F / static_cast<float>(examples.size());
  for (std::size_t s = 0; s < examples.size(); ++s) {
    float* row = outputs.data() + s * task.outputs;
    if (task.classifies()) {
      const LossResult one = cross_entropy(row, task.outputs, task.labels[examples[s]], naive);
      mean.loss += one.loss;
      mean.accuracy += one.accuracy;
    } else {
      const float error = row[0] - task.targets[examples[s]];
      mean.loss += static_cast<double>(error) * error;
      row[0] = 2.0F * error;
    }
    for (std::size_t o = 0; o < task.outputs; ++o) row[o] *= share;
  }
  mean.loss *= share;
  mean.accuracy *= share;
  return mean;
}

void backward(Network& network, Activation activation, std::size_t batch, double dropout, Tape& tape) {
  const auto keep = static_cast<float>(1.0 / (1.0 - dropout));
  for (std::size_t l = network.size(); l-- > 0;) {
    Layer& layer = network[l];
    const Floats& in = tape[l];
    const Floats& out_gradient = tape[l + 1];
    Floats in_gradient(batch * layer.inputs);
    for (std::size_t s = 0; s < batch; ++s) {
      const float* delta = out_gradient.data() + s * layer.outputs;
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const float value = in[s * layer.inputs + i];
        float* gradient = layer.gradient.data() + i * layer.outputs;
        const float* weights = layer.weights.data() + i * layer.outputs;
        float sum = 0;
        for (std::size_t o = 0; o < layer.outputs; ++o) {
          gradient[o] += value * delta[o];
          sum += weights[o] * delta[o];
        }
        // A dropped unit has output 0; its slope does not matter, it passes no gradient on.
        const bool dropped = dropout > 0.0 && value == 0.0F;
        in_gradient[s * layer.inputs + i] =
            l == 0 ? 0.0F : (dropped ? 0.0F : sum * keep * slope(value / keep, activation));
      }
      float* bias = layer.gradient.data() + layer.inputs * layer.outputs;
      for (std::size_t o = 0; o < layer.outputs; ++o) bias[o] += delta[o];
    }
    tape[l] = std::move(in_gradient);
  }
}

double global_norm(const Network& network) {
  double square = 0;
  for (const Layer& layer : network) {
    for (const float value : layer.gradient) square += static_cast<double>(value) * value;
  }
  return std::sqrt(square);
}

void update(Network& network, const Training& training, double rate, double factor, std::size_t step) {
  constexpr float kMomentum = 0.9F;
  constexpr float kSecond = 0.999F;
  constexpr float kTiny = 1e-8F;
  const auto correct_first = static_cast<float>(1.0 - std::pow(kMomentum, static_cast<double>(step + 1)));
  const auto correct_second = static_cast<float>(1.0 - std::pow(kSecond, static_cast<double>(step + 1)));
  const auto lr = static_cast<float>(rate);
  const auto scale = static_cast<float>(factor);
  const auto shrink = static_cast<float>(1.0 - rate * training.weight_decay);
  for (Layer& layer : network) {
    for (std::size_t i = 0; i < layer.weights.size(); ++i) {
      const float gradient = layer.gradient[i] * scale;
      float change = gradient;
      if (training.optimiser != Optimiser::sgd) {
        const float fresh = training.optimiser == Optimiser::adam ? 1.0F - kMomentum : 1.0F;
        layer.first_moment[i] = kMomentum * layer.first_moment[i] + fresh * gradient;
        change = layer.first_moment[i];
      }
      if (training.optimiser == Optimiser::adam) {
        layer.second_moment[i] = kSecond * layer.second_moment[i] + (1.0F - kSecond) * gradient * gradient;
        change = change / correct_first / (std::sqrt(layer.second_moment[i] / correct_second) + kTiny);
      }
      layer.weights[i] = layer.weights[i] * shrink - lr * change;
    }
  }
}

void load(const Task& task, const std::vector<std::size_t>& examples, Floats& inputs) {
  inputs.resize(examples.size() * task.features);
  for (std::size_t s = 0; s < examples.size(); ++s) {
    std::copy_n(task.inputs.begin() + static_cast<std::ptrdiff_t>(examples[s] * task.features), task.features,
                inputs.begin() + static_cast<std::ptrdiff_t>(s * task.features));
  }
}

LossResult evaluate(const Network& network, const Task& task, const Training& training, Random& random) {
  std::vector<std::size_t> examples(task.examples() - task.training);
  std::iota(examples.begin(), examples.end(), task.training);
  Tape tape(1);
  load(task, examples, tape[0]);
  forward(network, training.activation, examples.size(), 0.0, tape, random);
  return loss_and_gradient(task, examples, training.naive_logarithm, tape.back());
}

/// The order in which examples are taken, epoch after epoch.
class Batches {
 public:
  Batches(const Task& task, const Training& training) : order_(task.training), training_(training) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  std::vector<std::size_t> next(Random& random) {
    std::vector<std::size_t> batch;
    while (batch.size() < std::min(training_.batch, order_.size())) {
      if (at_ == 0 && training_.shuffle) random.shuffle(order_);
      batch.push_back(order_[at_]);
      at_ = (at_ + 1) % order_.size();
    }
    return batch;
  }

 private:
  std::vector<std::size_t> order_;
  const Training& training_;
  std::size_t at_ = 0;
};

struct StepResult {
  LossResult result;
  double norm = 0;
};

StepResult train_step(Network& network, const Task& task, const Training& training, double rate, std::size_t step,
                      Batches& batches, Tape& tape, Random& random) {
  const std::vector<std::size_t> examples = batches.next(random);
  tape.resize(1);
  load(task, examples, tape[0]);
  forward(network, training.activation, examples.size(), training.dropout, tape, random);
  if (training.clear_gradients) {
    for (Layer& layer : network) std::fill(layer.gradient.begin(), layer.gradient.end(), 0.0F);
  }
  StepResult done;
  done.result = loss_and_gradient(task, examples, training.naive_logarithm, tape.back());
  backward(network, training.activation, examples.size(), training.dropout, tape);
  done.norm = global_norm(network);
  const double factor = training.clip > 0.0 && done.norm > training.clip ? training.clip / done.norm : 1.0;
  if (training.train_weights) update(network, training, rate, factor, step);
  return done;
}

}  // namespace

std::vector<TrainedRow> train(const Task& task, const Training& training, Random& random) {
  Network network = make_network(task, training, random);
  const Network untouched = training.validate_first_weights ? network : Network();
  Batches batches(task, training);
  Tape tape;
  std::vector<TrainedRow> rows;
  TrainedRow row;
  double inside = 0;
  for (std::size_t step = 0; step < training.steps; ++step) {
    const double factor =
        training.factors.empty() ? 1.0 : training.factors[std::min(rows.size(), training.factors.size() - 1)];
    const double rate = training.rate * factor;
    const StepResult done = train_step(network, task, training, rate, step, batches, tape, random);
    inside += 1;
    row.train_loss += (done.result.loss - row.train_loss) / inside;
    row.train_accuracy += (done.result.accuracy - row.train_accuracy) / inside;
    if (training.log_single_batches) row.train_loss = done.result.loss;
    row.gradient_norm = done.norm;
    if ((step + 1) % training.log_every != 0) continue;
    row.step = static_cast<std::int64_t>(step + 1);
    row.rate = rate;
    row.validated = (rows.size() + 1) % training.validate_every == 0;
    if (row.validated) {
      const Network& seen = training.validate_first_weights ? untouched : network;
      const LossResult validation = evaluate(seen, task, training, random);
      row.validation_loss = validation.loss;
      row.validation_accuracy = validation.accuracy;
    }
    rows.push_back(row);
    row = {};
    inside = 0;
  }
  return rows;
}

}  // namespace osler::simulate
