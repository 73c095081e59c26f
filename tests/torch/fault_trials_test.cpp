// Faults of layers and of data, planted in programs of many kinds: the default budget finds them within 400 steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <torch/torch.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "documented.h"
#include "trial_run.h"

namespace osler::torch::trial {
namespace {

/// What is done to a program, and which findings name it. One of them must be there as a warning.
struct Fault {
  std::string name;
  std::vector<std::string> findings;
  std::function<Trial()> make;
};

using Make = Program (*)();

Trial plain(Make program) {
  Trial trial;
  trial.program = program();
  return trial;
}

at::Tensor parameter(Program& program, const std::string& name) {
  return program.net->named_parameters()[name].detach();
}

/// A fault in the hidden values.
std::function<Trial()> hidden(Make program, std::string place, std::function<at::Tensor(const at::Tensor&)> act) {
  return [=] {
    Trial trial = plain(program);
    trial.program.net->planted[place] = act;
    return trial;
  };
}

/// A fault in the parameters before the first step.
std::function<Trial()> started(Make program, const std::string& name, std::function<void(at::Tensor)> change) {
  return [=] {
    Trial trial = plain(program);
    change(parameter(trial.program, name));
    return trial;
  };
}

std::function<Trial()> with(Make program, std::function<void(Trial&)> change) {
  return [=] {
    Trial trial = plain(program);
    change(trial);
    return trial;
  };
}

/// A layer that the network has and never uses.
std::function<Trial()> unused(Make program) {
  return with(program, [](Trial& trial) { trial.program.net->register_module("spare", nn::Linear(8, 8)); });
}

std::function<Trial()> detached(Make program, const std::string& place) {
  return hidden(program, place, [](const at::Tensor& h) { return h.detach(); });
}

std::function<Trial()> left_out(Make program, const std::string& start) {
  return with(program,
              [=](Trial& trial) { trial.held = [=](const std::string& name) { return !name.starts_with(start); }; });
}

std::function<Trial()> never_cleared(Make program, MakeOptimizer optimizer) {
  return with(program, [=](Trial& trial) {
    trial.clear_gradients = false;
    trial.program.optimizer = optimizer;
  });
}

std::function<Trial()> optimized_by(Make program, MakeOptimizer optimizer) {
  return with(program, [=](Trial& trial) { trial.program.optimizer = optimizer; });
}

std::function<Trial()> spoiled(Make program, std::function<void(Sample&)> spoil) {
  return with(program, [=](Trial& trial) { trial.spoil = spoil; });
}

void scale_all(Program& program, double factor) {
  const at::NoGradGuard no_graph;
  for (at::Tensor& each : program.net->parameters()) each.mul_(factor);
}

/// The gradients of one layer times a number.
std::function<Trial()> gradient_scaled(Make program, const std::string& layer, double factor) {
  return with(program, [=](Trial& trial) {
    for (auto& named : trial.program.net->named_parameters()) {
      if (!named.key().starts_with(layer)) continue;
      named.value().register_hook([=](const at::Tensor& gradient) { return gradient * factor; });
    }
  });
}

std::vector<Fault> layer_faults() {
  const std::vector<std::string> cut = {"dead-layer"};
  return {
      {"an unused layer, perceptron", cut, unused(perceptron)},
      {"an unused layer, transformer", cut, unused(transformer)},
      {"an unused layer, LSTM", cut, unused(lstm)},
      {"detached, perceptron", cut, detached(perceptron, "fc1")},
      {"detached, convolutional", cut, detached(convolutional, "conv2")},
      {"detached, GRU", cut, detached(gru, "states")},
      {"detached, autoencoder", cut, detached(autoencoder, "code")},
      {"detached, recommender", cut, detached(recommender, "head")},
      {"left out of the optimizer, perceptron", {"parameters-not-optimized"}, left_out(perceptron, "fc2")},
      {"left out of the optimizer, transformer", {"parameters-not-optimized"}, left_out(transformer, "qkv")},
      {"left out of the optimizer, residual", {"parameters-not-optimized"}, left_out(residual, "stem")},
      {"left out of the optimizer, variational", {"parameters-not-optimized"}, left_out(variational, "decode")},
      {"gradients never cleared, perceptron", {"gradients-accumulating"}, never_cleared(perceptron, sgd(0.002))},
      {"gradients never cleared, convolutional", {"gradients-accumulating"}, never_cleared(convolutional, sgd(1e-3))},
      {"gradients never cleared, LSTM", {"gradients-accumulating"}, never_cleared(lstm, adam(5e-3))},
      {"gradients never cleared, transformer", {"gradients-accumulating"}, never_cleared(transformer, adamw(2e-3))},
      {"evaluation mode, convolutional",
       {"eval-mode-in-training"},
       with(convolutional, [](Trial& trial) { trial.program.net->eval(); })},
      {"evaluation mode, transformer",
       {"eval-mode-in-training"},
       with(transformer, [](Trial& trial) { trial.program.net->eval(); })},
      {"training mode in validation, convolutional",
       {"train-mode-in-validation"},
       with(convolutional, [](Trial& trial) { trial.validates_in_training_mode = true; })},
      {"training mode in validation, transformer",
       {"train-mode-in-validation"},
       with(transformer, [](Trial& trial) { trial.validates_in_training_mode = true; })},
      {"validation with a graph, perceptron",
       {"validation-builds-graph"},
       with(perceptron, [](Trial& trial) { trial.validates_with_graph = true; })},
      {"validation with a graph, GRU",
       {"validation-builds-graph"},
       with(gru, [](Trial& trial) { trial.validates_with_graph = true; })},
      {"a dead layer of rectifiers, perceptron",
       {"dead-neurons"},
       started(perceptron, "fc1.bias", [](at::Tensor bias) { bias.fill_(-50); })},
      {"a dead layer of rectifiers, convolutional",
       {"dead-neurons"},
       started(convolutional, "bn2.bias", [](at::Tensor bias) { bias.fill_(-20); })},
      {"half of the units dead, perceptron",
       {"dead-neurons"},
       started(perceptron, "fc2.bias", [](at::Tensor bias) { bias.slice(0, 0, 16).fill_(-50); })},
      {"a third of the channels dead, residual",
       {"dead-neurons"},
       started(residual, "block0_norm.bias", [](at::Tensor bias) { bias.slice(0, 0, 3).fill_(-20); })},
      {"saturated, deep",
       {"saturated-activations"},
       started(deep, "layer3.weight", [](at::Tensor weight) { weight.mul_(100); })},
      {"saturated from the data on, deep",
       {"saturated-activations"},
       started(deep, "layer0.weight", [](at::Tensor weight) { weight.mul_(100); })},
      {"sigmoids in a deep network",
       {"vanishing-by-depth", "vanishing-gradients", "silent-layer", "collapsed-representation"},
       with(deep, [](Trial& trial) { std::static_pointer_cast<Deep>(trial.program.net)->sigmoid = true; })},
      {"weights a hundred times too small, deep",
       {"vanishing-by-depth", "vanishing-activations", "poor-initialization"},
       with(deep, [](Trial& trial) { scale_all(trial.program, 0.01); })},
      {"a layer of zeros, perceptron",
       {"poor-initialization", "collapsed-representation", "dead-layer", "dead-neurons"},
       started(perceptron, "fc2.weight", [](at::Tensor weight) { weight.zero_(); })},
      {"all weights of a layer the same, perceptron",
       {"poor-initialization", "collapsed-representation"},
       started(perceptron, "fc2.weight", [](at::Tensor weight) { weight.fill_(0.1); })},
      {"weights fifty times too large, perceptron",
       {"poor-initialization", "exploding-activations"},
       started(perceptron, "fc2.weight", [](at::Tensor weight) { weight.mul_(50); })},
      {"weights of the head too large, transformer",
       {"poor-initialization", "initial-loss-wrong"},
       started(transformer, "head.weight", [](at::Tensor weight) { weight.mul_(50); })},
      {"a rate of 1e-8, perceptron", {"updates-too-small"}, optimized_by(perceptron, sgd(1e-8))},
      {"a rate of 1e-8, transformer", {"updates-too-small"}, optimized_by(transformer, adamw(1e-8))},
      {"a rate far too high, perceptron",
       {"updates-too-large", "loss-diverging", "loss-nonfinite-later", "loss-spikes", "loss-oscillating"},
       optimized_by(perceptron, sgd(30))},
      {"a rate far too high, transformer",
       {"updates-too-large", "loss-diverging", "loss-spikes", "loss-oscillating", "exploding-gradients", "no-warmup"},
       optimized_by(transformer, adamw(0.5))},
      {"weight decay of 5, perceptron", {"weight-norm-collapsing"}, optimized_by(perceptron, sgd(0.1, 0, 5))},
      {"weight decay of 5, autoencoder", {"weight-norm-collapsing"}, optimized_by(autoencoder, sgd(0.05, 0.9, 5))},
      {"softmax twice, perceptron",
       {"outputs-squashed-twice"},
       with(perceptron,
            [](Trial& trial) {
              trial.program.loss = [](const at::Tensor& out, const at::Tensor& y) {
                return F::cross_entropy(at::softmax(out, 1), y);
              };
            })},
      {"softmax twice, convolutional",
       {"outputs-squashed-twice"},
       with(convolutional,
            [](Trial& trial) {
              trial.program.loss = [](const at::Tensor& out, const at::Tensor& y) {
                return F::cross_entropy(at::softmax(out, 1), y);
              };
            })},
      {"attention collapsed, transformer",
       {"attention-entropy-collapse"},
       started(transformer, "qkv.weight", [](at::Tensor weight) { weight.mul_(60); })},
      {"statistics that do not follow, convolutional",
       {"normalization-statistics-drift"},
       with(convolutional,
            [](Trial& trial) {
              auto net = std::static_pointer_cast<Convolutional>(trial.program.net);
              net->bn1->options.momentum(1e-9);
              net->conv1->bias.detach().fill_(20);
            })},
      {"gradients of a layer ten thousand times too large, deep",
       {"exploding-layer", "exploding-gradients", "updates-too-large"},
       gradient_scaled(deep, "layer4", 1e4)},
      {"gradients of a layer next to nothing, deep",
       {"silent-layer", "dead-layer"},
       gradient_scaled(deep, "layer4", 1e-8)},
      {"a weight becomes infinite, perceptron",
       {"weights-nonfinite", "loss-nonfinite-later", "gradient-nonfinite"},
       with(perceptron,
            [](Trial& trial) {
              const at::Tensor weight = parameter(trial.program, "fc2.weight");
              trial.meanwhile = [=](int step) {
                if (step == 200) weight[0][0] = INFINITY;
              };
            })},
      {"updates lost in bfloat16, perceptron",
       {"updates-lost-to-precision"},
       with(perceptron,
            [](Trial& trial) {
              trial.program.net->to(at::kBFloat16);
              trial.program.optimizer = sgd(1e-4);
              trial.program.draw = [draw = trial.program.draw] {
                Sample batch = draw();
                batch.x = batch.x.to(at::kBFloat16);
                return batch;
              };
              trial.validates = false;
            })},
      {"activations explode, autoencoder",
       {"exploding-activations"},
       hidden(autoencoder, "widen", [](const at::Tensor& h) { return h * 1e5; })},
      {"a representation without content, normalised",
       {"collapsed-representation"},
       hidden(normalised, "fc2", [](const at::Tensor& h) { return h * 1e-5 + 1; })},
      {"the loss with the wrong sign, perceptron",
       {"loss-negative-unbounded", "loss-diverging"},
       with(perceptron,
            [](Trial& trial) {
              trial.program.loss = [](const at::Tensor& out, const at::Tensor& y) { return -F::cross_entropy(out, y); };
            })},
      {"clipped to next to nothing, GRU",
       {"clipping-always", "updates-too-small"},
       with(gru,
            [](Trial& trial) {
              trial.program.optimizer = sgd(0.05);
              trial.options = [](MonitorOptions& options) { options.clip_norm = 1e-5; };
            })},
      {"the rate falls to nothing at once, autoencoder",
       {"learning-rate-zero", "learning-rate-spent"},
       with(autoencoder,
            [](Trial& trial) {
              trial.schedule = [](::torch::optim::Optimizer& optimizer, int step) {
                optimizer.param_groups()[0].options().set_lr(step < 30 ? 3e-3 : 0);
              };
            })},
      {"a schedule that is not saved, LSTM",
       {"scheduler-not-checkpointed"},
       with(lstm,
            [](Trial& trial) {
              trial.schedule = [](::torch::optim::Optimizer& optimizer, int step) {
                optimizer.param_groups()[0].options().set_lr(5e-3 * std::exp(-step / 200.0));
              };
              trial.tell = [](Monitor& monitor) { monitor.checkpoint(false); };
            })},
      {"memory that nobody gives back, perceptron",
       {"memory-growing"},
       with(perceptron,
            [](Trial& trial) {
              ::malloc_trim(0);
              trial.meanwhile = [kept = std::make_shared<std::vector<at::Tensor>>()](int) {
                kept->push_back(at::ones({1024, 256}));
              };
            })},
  };
}

std::vector<Fault> data_faults() {
  const auto every = [](int steps, std::function<void(Sample&)> spoil) {
    return [=, n = std::make_shared<int>(0)](Sample& batch) {
      if (++*n % steps == 0) spoil(batch);
    };
  };
  const auto poison = [](Sample& batch) { batch.x[0].fill_(NAN); };
  const auto sort = [](Make program) {
    return with(program, [](Trial& trial) {
      trial.program.draw = [draw = trial.program.draw, n = std::make_shared<std::int64_t>(0)] {
        Sample all = draw();
        const std::int64_t one = (*n)++ % 2;
        const at::Tensor chosen = (all.y == one).nonzero().squeeze(1);
        const at::Tensor filled =
            chosen.repeat({kBatch / std::max<std::int64_t>(1, chosen.numel()) + 1}).slice(0, 0, kBatch);
        return Sample{all.x.index_select(0, filled), all.y.index_select(0, filled)};
      };
    });
  };
  const auto few_batches = [](Make program, std::size_t many) {
    return with(program, [=](Trial& trial) {
      std::vector<Sample> kept;
      for (std::size_t i = 0; i < many; ++i) kept.push_back(trial.program.draw());
      trial.spoil = [=, n = std::make_shared<std::size_t>(0)](Sample& batch) { batch = kept[(*n)++ % many]; };
    });
  };
  return {
      {"NaN in every tenth batch, convolutional", {"batch-nonfinite"}, spoiled(convolutional, every(10, poison))},
      {"NaN in every tenth batch, GRU", {"batch-nonfinite"}, spoiled(gru, every(10, poison))},
      {"infinite in every fiftieth batch, perceptron",
       {"batch-nonfinite"},
       spoiled(perceptron, every(50, [](Sample& batch) { batch.x[3][2] = INFINITY; }))},
      {"pixels of 0 to 255, convolutional",
       {"batch-unnormalized", "batch-extreme"},
       spoiled(convolutional, [](Sample& batch) { batch.x = batch.x * 40 + 128; })},
      {"far from zero, perceptron",
       {"batch-unnormalized", "batch-extreme"},
       spoiled(perceptron, [](Sample& batch) { batch.x = batch.x + 30; })},
      {"a feature a thousand times too large, normalised",
       {"batch-unnormalized", "batch-extreme"},
       spoiled(normalised, [](Sample& batch) { batch.x.select(1, 4).mul_(1000); })},
      {"outliers in one of five batches, LSTM",
       {"batch-extreme"},
       spoiled(lstm, every(5, [](Sample& batch) { batch.x[2][3][0] = 3e4; }))},
      {"inputs a thousand times too small, autoencoder",
       {"batch-unnormalized"},
       spoiled(autoencoder, [](Sample& batch) { batch.x = batch.x * 1e-3; })},
      {"labels beyond the classes, perceptron",
       {"labels-invalid"},
       with(perceptron, [](Trial& trial) { trial.options = [](MonitorOptions& options) { options.classes = 3; }; })},
      {"labels beyond the classes, transformer",
       {"labels-invalid"},
       with(transformer, [](Trial& trial) { trial.options = [](MonitorOptions& options) { options.classes = 8; }; })},
      {"NaN among the targets, LSTM",
       {"labels-invalid"},
       spoiled(lstm, every(10, [](Sample& batch) { batch.y[0].fill_(NAN); }))},
      {"labels of one class, convolutional",
       {"labels-invalid", "class-imbalance"},
       spoiled(convolutional, [](Sample& batch) { batch.y.fill_(1); })},
      {"one class in thirty of another, perceptron",
       {"class-imbalance"},
       spoiled(
           perceptron,
           [](Sample& batch) { batch.y = at::where(at::rand({kBatch}) < 0.97, at::zeros_like(batch.y), batch.y); })},
      {"one class in twenty of another, GRU",
       {"class-imbalance"},
       spoiled(
           gru,
           [](Sample& batch) { batch.y = at::where(at::rand({kBatch}) < 0.95, at::zeros_like(batch.y), batch.y); })},
      {"one class in a batch, perceptron", {"labels-invalid"}, sort(perceptron)},
      {"one class in a batch, convolutional", {"labels-invalid"}, sort(convolutional)},
      {"one class in a batch, GRU", {"labels-invalid"}, sort(gru)},
      {"the same batch always, convolutional", {"batch-repeated"}, few_batches(convolutional, 1)},
      {"the same batch always, transformer", {"batch-repeated"}, few_batches(transformer, 1)},
      {"three batches in turn, perceptron", {"batch-repeated"}, few_batches(perceptron, 3)},
      {"one sample a whole batch, LSTM",
       {"batch-repeated"},
       spoiled(lstm,
               [](Sample& batch) {
                 batch.x = batch.x.slice(0, 0, 1).expand_as(batch.x).contiguous();
                 batch.y = batch.y.slice(0, 0, 1).expand_as(batch.y).contiguous();
               })},
      {"inputs of zeros, convolutional",
       {"batch-repeated", "batch-unnormalized"},
       spoiled(convolutional, [](Sample& batch) { batch.x.zero_(); })},
      {"labels by chance, perceptron",
       {"loss-stuck-from-start"},
       spoiled(perceptron, [](Sample& batch) { batch.y = at::randint_like(batch.y, 4); })},
      {"labels by chance, convolutional",
       {"loss-stuck-from-start"},
       spoiled(convolutional, [](Sample& batch) { batch.y = at::randint_like(batch.y, 4); })},
      {"a third of the validation was trained on, autoencoder",
       {"split-overlap"},
       with(autoencoder, [](Trial& trial) { trial.tell = [](Monitor& monitor) { monitor.split_overlap(0.3); }; })},
      {"validation that is augmented, residual",
       {"validation-augmented"},
       with(residual, [](Trial& trial) { trial.tell = [](Monitor& monitor) { monitor.validation_changes(0.8); }; })},
      {"labels of the validation shifted by one, perceptron",
       {"validation-below-chance", "metric-contradicts-loss", "overfitting"},
       with(
           perceptron,
           [](Trial& trial) { trial.spoil_validation = [](Sample& batch) { batch.y = (batch.y + 1).remainder(4); }; })},
      {"labels of the validation shifted by one, convolutional",
       {"validation-below-chance", "metric-contradicts-loss", "overfitting"},
       with(
           convolutional,
           [](Trial& trial) { trial.spoil_validation = [](Sample& batch) { batch.y = (batch.y + 1).remainder(4); }; })},
      {"validation not normalised as training, convolutional",
       {"overfitting", "validation-below-chance"},
       with(convolutional,
            [](Trial& trial) { trial.spoil_validation = [](Sample& batch) { batch.x = batch.x * 10 + 20; }; })},
      {"validation not normalised as training, LSTM",
       {"overfitting", "validation-below-chance"},
       with(lstm, [](Trial& trial) { trial.spoil_validation = [](Sample& batch) { batch.x = batch.x * 5 + 3; }; })},
      {"waits for data, GRU",
       {"input-starved"},
       with(gru,
            [](Trial& trial) {
              trial.meanwhile = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(6)); };
            })},
  };
}

bool names_it(const std::vector<Observation>& seen, const Fault& fault) {
  return std::any_of(seen.begin(), seen.end(), [&](const Observation& each) {
    return std::find(fault.findings.begin(), fault.findings.end(), each.finding) != fault.findings.end();
  });
}

/// How many faults are found at the end; those that are not are told. Watching changes no bit of any of the trainings.
std::size_t found_of(const std::vector<Fault>& faults) {
  std::size_t found = 0;
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    const Outcome watched = TrialRun(fault.make, true).outcome();
    if (names_it(watched.reports.back(), fault)) {
      ++found;
    } else {
      std::cout << "missed: " << fault.name << ": " << listed(watched.reports.back()) << '\n';
    }
    if (fault.name.starts_with("clipped")) continue;  // by the monitor, which was asked for it
    const at::Tensor alone = TrialRun(fault.make, false).outcome().weights;
    EXPECT_TRUE(at::equal(watched.weights.nan_to_num(), alone.nan_to_num())) << "changed by watching";
  }
  std::cout << found << " of " << faults.size() << " found\n";
  return found;
}

constexpr double kShareFound = 0.9;

TEST(FaultTrials, LayersAtTheDefaultBudgetWithin400Steps) {
  const std::vector<Fault> faults = layer_faults();
  const std::size_t found = found_of(faults);
  EXPECT_GE(static_cast<double>(found), kShareFound * static_cast<double>(faults.size()));
  expect_as_documented("a finding that names a fault of the layers", found, faults.size());
}

TEST(FaultTrials, DataAtTheDefaultBudgetWithin400Steps) {
  const std::vector<Fault> faults = data_faults();
  const std::size_t found = found_of(faults);
  EXPECT_GE(static_cast<double>(found), kShareFound * static_cast<double>(faults.size()));
  expect_as_documented("a finding that names a fault of the data", found, faults.size());
}

}  // namespace
}  // namespace osler::torch::trial
