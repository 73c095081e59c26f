// Findings that only a look inside the process gives: a real training shows each, and the same training healthy does
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <torch/torch.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "gpt/gpt.h"
#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;

/// A training in the making: a classifier of three clouds, and the places where a test may make it sick.
struct Training {
  nn::Sequential model{nn::Linear(6, 16), nn::ReLU(), nn::Linear(16, 16), nn::Tanh(), nn::Linear(16, 3)};
  int steps = 60;
  double rate = 0.05;
  double decay = 0;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> classes = 3;
  bool clear_gradients = true;
  std::function<void(nn::Sequential&)> prepare = [](nn::Sequential&) {};
  std::function<std::vector<at::Tensor>(nn::Sequential&)> optimized = [](nn::Sequential& m) { return m->parameters(); };
  std::function<void(at::Tensor& x, at::Tensor& y)> data = [](at::Tensor&, at::Tensor&) {};
  std::function<void(int step)> meanwhile = [](int) {};
  std::function<void(nn::Sequential&, Monitor&)> after = [](nn::Sequential&, Monitor&) {};

  [[nodiscard]] Report report() {
    ::torch::manual_seed(4);
    prepare(model);
    ::torch::optim::SGD optimizer(optimized(model), ::torch::optim::SGDOptions(rate).weight_decay(decay));
    MonitorOptions options;
    options.batch_size = batch_size;
    options.statistics_every = 1;
    options.trace_every = 1;
    options.batches_every = 1;
    options.classes = classes;
    Monitor monitor(*model, optimizer, std::move(options));
    const at::Tensor centres = at::randn({3, 6}) * 2;
    for (int step = 0; step < steps; ++step) {
      monitor.await_batch();
      meanwhile(step);
      at::Tensor y = at::randint(0, 3, {24}, at::kLong);
      at::Tensor x = (centres.index_select(0, y) + at::randn({24, 6})) / 2;
      data(x, y);
      monitor.batch_ready();
      monitor.batch(x, y);
      if (clear_gradients) optimizer.zero_grad();
      const at::Tensor loss = at::cross_entropy_loss(model->forward(x), y.clamp(0, 2));
      loss.backward();
      if (monitor.step(loss)) optimizer.step();
    }
    after(model, monitor);
    return monitor.report();
  }
};

const Observation* find(const Report& report, const std::string& id) {
  for (const Observation& observation : report.findings) {
    if (observation.finding == id) return &observation;
  }
  return nullptr;
}

/// The sick training shows the finding, the healthy one was checked for it and does not.
void expect_told_apart(const std::string& id, Training sick, Training healthy = {}) {
  const Report ill = sick.report();
  std::string why;
  for (const auto& check : ill.checks_not_run) why += check.finding == id ? ": " + check.reason : "";
  EXPECT_NE(find(ill, id), nullptr) << id << " was not found" << why;
  const Report well = healthy.report();
  EXPECT_EQ(find(well, id), nullptr) << id << ": " << (find(well, id) == nullptr ? "" : find(well, id)->summary);
  EXPECT_THAT(well.checks_ran, testing::Contains(id));
}

void set_bias(nn::Sequential& model, std::size_t layer, double value) {
  const at::NoGradGuard no_graph;
  model[layer]->as<nn::Linear>()->bias.fill_(value);
}

void scale_weight(nn::Sequential& model, std::size_t layer, double factor) {
  const at::NoGradGuard no_graph;
  model[layer]->as<nn::Linear>()->weight.mul_(factor);
}

TEST(MonitoredFindings, DeadNeurons) {
  Training sick;
  sick.prepare = [](nn::Sequential& model) { set_bias(model, 0, -50); };
  const Report report = sick.report();
  ASSERT_NE(find(report, "dead-neurons"), nullptr);
  EXPECT_THAT(find(report, "dead-neurons")->layers, testing::ElementsAre("0 -> relu"));
  expect_told_apart("dead-neurons", std::move(sick));
}

TEST(MonitoredFindings, SaturatedActivations) {
  Training sick;
  sick.rate = 1e-4;
  sick.prepare = [](nn::Sequential& model) { scale_weight(model, 2, 200); };
  expect_told_apart("saturated-activations", std::move(sick));
}

TEST(MonitoredFindings, VanishingActivations) {
  Training sick;
  sick.rate = 1e-9;
  sick.prepare = [](nn::Sequential& model) {
    scale_weight(model, 2, 1e-8);
    set_bias(model, 2, 0);
  };
  expect_told_apart("vanishing-activations", std::move(sick));
}

TEST(MonitoredFindings, ExplodingActivations) {
  Training sick;
  sick.rate = 1e-9;
  sick.prepare = [](nn::Sequential& model) { scale_weight(model, 0, 1e5); };
  expect_told_apart("exploding-activations", std::move(sick));
}

TEST(MonitoredFindings, CollapsedRepresentation) {
  Training sick;
  sick.rate = 1e-9;
  sick.prepare = [](nn::Sequential& model) {
    scale_weight(model, 0, 1e-4);
    set_bias(model, 0, 1);
  };
  expect_told_apart("collapsed-representation", std::move(sick));
}

TEST(MonitoredFindings, NormalizationStatisticsDrift) {
  const auto normalised = [](double momentum) {
    Training training;
    training.model = nn::Sequential(nn::Linear(6, 16), nn::BatchNorm1d(nn::BatchNormOptions(16).momentum(momentum)),
                                    nn::ReLU(), nn::Linear(16, 3));
    training.prepare = [](nn::Sequential& model) { set_bias(model, 0, 30); };
    return training;
  };
  expect_told_apart("normalization-statistics-drift", normalised(1e-9), normalised(0.3));
}

TEST(MonitoredFindings, LogitGrowth) {
  Training sick;
  sick.model = nn::Sequential(nn::Linear(6, 3));
  sick.rate = 0.5;
  sick.clear_gradients = false;  // the sum of all gradients pushes on when nothing is left to learn
  sick.data = [](at::Tensor& x, at::Tensor& y) { x = at::one_hot(y, 6).to(at::kFloat) * 3; };
  sick.prepare = [](nn::Sequential& model) { scale_weight(model, 0, 0.01); };
  Training healthy;
  expect_told_apart("logit-growth", std::move(sick), std::move(healthy));
}

TEST(MonitoredFindings, AttentionEntropyCollapse) {
  const auto attended = [](double scale) {
    ::torch::manual_seed(2);
    examples::Gpt model;
    {
      const at::NoGradGuard no_graph;
      model.block1->qkv->weight.mul_(scale);
    }
    ::torch::optim::SGD optimizer(model.parameters(), 1e-6);
    MonitorOptions options;
    options.trace_every = 1;
    Monitor monitor(model, optimizer, std::move(options));
    for (int step = 0; step < 12; ++step) {
      const auto [x, y] = examples::pieces(2);
      monitor.train_step([&, &x = x, &y = y] { return examples::next_character_loss(model.forward(x), y); });
    }
    return monitor.report();
  };
  const Report sick = attended(100);
  ASSERT_NE(find(sick, "attention-entropy-collapse"), nullptr);
  EXPECT_THAT(find(sick, "attention-entropy-collapse")->layers, testing::ElementsAre("block1.qkv -> softmax"));
  const Report healthy = attended(1);
  EXPECT_EQ(find(healthy, "attention-entropy-collapse"), nullptr);
  EXPECT_THAT(healthy.checks_ran, testing::Contains("attention-entropy-collapse"));
}

TEST(MonitoredFindings, BatchNonfinite) {
  Training sick;
  sick.data = [n = 0](at::Tensor& x, at::Tensor&) mutable {
    if (++n % 10 == 0) x[0][0] = std::numeric_limits<float>::quiet_NaN();
  };
  expect_told_apart("batch-nonfinite", std::move(sick));
}

TEST(MonitoredFindings, BatchExtremeAndUnnormalized) {
  const auto pixels = [] {
    Training sick;
    sick.data = [](at::Tensor& x, at::Tensor&) { x = x * 30 + 130; };
    return sick;
  };
  expect_told_apart("batch-extreme", pixels());
  expect_told_apart("batch-unnormalized", pixels());
}

TEST(MonitoredFindings, LabelsInvalid) {
  Training sick;
  sick.data = [](at::Tensor&, at::Tensor& y) { y[0] = 7; };
  expect_told_apart("labels-invalid", std::move(sick));
}

TEST(MonitoredFindings, ClassImbalance) {
  Training sick;
  sick.data = [](at::Tensor&, at::Tensor& y) { y.slice(0, 1).zero_(); };
  expect_told_apart("class-imbalance", std::move(sick));
}

TEST(MonitoredFindings, BatchRepeated) {
  Training sick;
  sick.data = [kept = at::Tensor()](at::Tensor& x, at::Tensor&) mutable {
    if (!kept.defined()) kept = x;
    x = kept;
  };
  expect_told_apart("batch-repeated", std::move(sick));
}

TEST(MonitoredFindings, SplitOverlapAndChangingValidation) {
  const at::Tensor training = at::randn({40, 6});
  const auto compared = [&](const at::Tensor& validation, const at::Tensor& again) {
    Training made;
    made.after = [=](nn::Sequential&, Monitor& monitor) {
      monitor.split_overlap(shared_samples(sample_hashes(training), sample_hashes(validation)));
      monitor.validation_changes(changed_samples(sample_hashes(validation), sample_hashes(again)));
    };
    return made;
  };
  const at::Tensor leaked = training.slice(0, 0, 10);
  const at::Tensor fresh = at::randn({10, 6});
  expect_told_apart("split-overlap", compared(leaked, leaked), compared(fresh, fresh));
  expect_told_apart("validation-augmented", compared(fresh, fresh + 0.01), compared(fresh, fresh));
}

TEST(MonitoredFindings, ModesOfTrainingAndValidation) {
  const auto dropping = [](bool training_mode, bool validation_mode, bool graph) {
    Training made;
    made.model = nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.2), nn::Linear(16, 3));
    made.prepare = [=](nn::Sequential& model) { model->train(training_mode); };
    made.after = [=](nn::Sequential& model, Monitor& monitor) {
      model->train(validation_mode);
      at::AutoGradMode grad(graph);
      monitor.validation_batch(model->forward(at::randn({8, 6})));
    };
    return made;
  };
  expect_told_apart("eval-mode-in-training", dropping(false, false, false), dropping(true, false, false));
  expect_told_apart("train-mode-in-validation", dropping(true, true, false), dropping(true, false, false));
  expect_told_apart("validation-builds-graph", dropping(true, false, true), dropping(true, false, false));
}

TEST(MonitoredFindings, ParametersNotOptimizedNeverChange) {
  const auto partial = [] {
    Training sick;
    sick.optimized = [](nn::Sequential& model) {
      std::vector<at::Tensor> some = model->parameters();
      some.erase(some.begin() + 2, some.begin() + 4);
      return some;
    };
    return sick;
  };
  const Report report = partial().report();
  ASSERT_NE(find(report, "parameters-not-optimized"), nullptr);
  EXPECT_THAT(find(report, "parameters-not-optimized")->layers, testing::ElementsAre("2.weight", "2.bias"));
  expect_told_apart("parameters-not-optimized", partial());
  expect_told_apart("weights-frozen", partial());
}

TEST(MonitoredFindings, GradientsNeverCleared) {
  Training sick;
  sick.clear_gradients = false;
  sick.rate = 1e-3;
  expect_told_apart("gradients-accumulating", std::move(sick));
}

TEST(MonitoredFindings, SchedulerMissingFromTheCheckpoint) {
  const auto scheduled = [](bool saved) {
    ::torch::manual_seed(1);
    nn::Linear model(4, 2);
    ::torch::optim::SGD optimizer(model->parameters(), 0.1);
    Monitor monitor(*model, optimizer);
    const at::Tensor x = at::randn({8, 4});
    for (int step = 0; step < 40; ++step) {
      monitor.train_step([&] { return model->forward(x).square().mean(); });
      auto& options = optimizer.param_groups()[0].options();
      options.set_lr(options.get_lr() * 0.95);
      if (step % 10 == 9) monitor.checkpoint(saved);
    }
    return monitor.report();
  };
  EXPECT_NE(find(scheduled(false), "scheduler-not-checkpointed"), nullptr);
  EXPECT_EQ(find(scheduled(true), "scheduler-not-checkpointed"), nullptr);
}

TEST(MonitoredFindings, WeightsNonfinite) {
  Training sick;
  sick.steps = 20;
  auto hold = std::make_shared<at::Tensor>();
  sick.prepare = [hold](nn::Sequential& model) { *hold = model->parameters()[0]; };
  sick.meanwhile = [hold](int step) {
    const at::NoGradGuard no_graph;
    // An infinite weight of a feature that is then hidden from the loss by the rectifier.
    if (step == 10) (*hold)[0][0] = -std::numeric_limits<float>::infinity();
  };
  sick.data = [](at::Tensor& x, at::Tensor&) { x.select(1, 0).abs_().add_(0.1); };
  expect_told_apart("weights-nonfinite", std::move(sick));
}

TEST(MonitoredFindings, MemoryGrowing) {
  Training sick;
  sick.steps = 80;
  sick.prepare = [](nn::Sequential&) { ::malloc_trim(0); };  // what earlier tests left free would be filled first
  auto leak = std::make_shared<std::vector<at::Tensor>>();
  sick.meanwhile = [leak](int) { leak->push_back(at::ones({2048, 1024})); };
  Training healthy;
  healthy.steps = 80;
  expect_told_apart("memory-growing", std::move(sick), std::move(healthy));
}

TEST(MonitoredFindings, PoorInitialization) {
  Training sick;
  sick.prepare = [](nn::Sequential& model) { scale_weight(model, 2, 200); };
  expect_told_apart("poor-initialization", std::move(sick));
}

TEST(MonitoredFindings, UpdatesTooSmall) {
  Training sick;
  sick.rate = 1e-7;
  expect_told_apart("updates-too-small", std::move(sick));
}

TEST(MonitoredFindings, UpdatesTooLarge) {
  Training sick;
  sick.rate = 20;
  sick.data = [](at::Tensor&, at::Tensor& y) { y = at::randint(0, 3, {24}, at::kLong); };  // never at rest
  expect_told_apart("updates-too-large", std::move(sick));
}

TEST(MonitoredFindings, WeightNormExploding) {
  Training sick;
  const std::vector<at::Tensor> weights = sick.model->parameters();
  sick.data = [weights](at::Tensor&, at::Tensor&) {  // a weight decay of one's own, with the wrong sign
    const at::NoGradGuard no_graph;
    for (at::Tensor weight : weights) weight.mul_(1.15);
  };
  expect_told_apart("weight-norm-exploding", std::move(sick));
}

TEST(MonitoredFindings, WeightNormCollapsing) {
  Training sick;
  sick.decay = 3;
  expect_told_apart("weight-norm-collapsing", std::move(sick));
}

Training in_bfloat16(double rate) {
  Training training;
  training.rate = rate;
  training.prepare = [](nn::Sequential& model) { model->to(at::kBFloat16); };
  training.data = [](at::Tensor& x, at::Tensor&) { x = x.to(at::kBFloat16); };
  return training;
}

TEST(MonitoredFindings, UpdatesLostToPrecision) {
  Training healthy = in_bfloat16(1);
  healthy.data = [](at::Tensor& x, at::Tensor& y) {
    x = x.to(at::kBFloat16);
    y = at::randint(0, 3, {24}, at::kLong);  // never at rest, where updates are small for a good reason
  };
  expect_told_apart("updates-lost-to-precision", in_bfloat16(1e-5), std::move(healthy));
}

TEST(MonitoredFindings, LostUpdatesAreANoteWhereLittleIsLeftToLearn) {
  Training training = in_bfloat16(0.1);
  training.steps = 300;
  training.data = [](at::Tensor& x, at::Tensor& y) { x = at::one_hot(y, 6).to(at::kBFloat16); };
  const Report report = training.report();
  const Observation* lost = find(report, "updates-lost-to-precision");
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->severity, Severity::note) << lost->summary;
}

TEST(MonitoredFindings, GradientNoiseDominates) {
  Training sick;
  sick.steps = 240;
  sick.batch_size = 24;
  // Many inputs: gradients of noise are at right angles to each other the more exactly the more dimensions they have.
  sick.model = nn::Sequential(nn::Linear(1024, 64), nn::ReLU(), nn::Linear(64, 3));
  sick.data = [](at::Tensor& x, at::Tensor& y) {  // nothing to be learned
    x = at::randn({24, 1024});
    y = at::randint(0, 3, {24}, at::kLong);
  };
  Training healthy;
  healthy.steps = 240;
  healthy.batch_size = 24;
  healthy.rate = 1e-4;  // far from the end, where all batches agree
  expect_told_apart("gradient-noise-dominates", std::move(sick), std::move(healthy));
}

TEST(MonitoredFindings, InputStarved) {
  Training sick;
  sick.steps = 30;
  sick.meanwhile = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
  EXPECT_NE(find(sick.report(), "input-starved"), nullptr);
}

}  // namespace
}  // namespace osler::torch
