// settle(): monitored runs whose curves leave several causes open, and what experiments make of them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <memory>

#include "mlp/mlp.h"
#include "osler/torch/settle.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;

/// A training that is sick in one known way. What is not said is healthy.
struct Ambiguous {
  std::string cause;
  std::function<nn::Sequential()> model = [] {
    return nn::Sequential(nn::Linear(32, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  };
  double rate = 0.1;
  double weight_decay = 0;
  std::int64_t batch = 32;
  int steps = 5000;
  std::function<Batch(std::int64_t)> data = [](std::int64_t size) {
    const auto [x, y] = examples::clouds(size);
    return Batch{x, y};
  };
  std::function<at::Tensor(const at::Tensor&)> ending = [](const at::Tensor& x) { return x; };
  std::function<double(int)> decay = [](int) { return 1.0; };
  std::uint64_t seed = 11;
};

struct Outcome {
  Settled settled;
  double share = 0;  ///< of the run's own time
};

const nn::Sequential& prepared(const nn::Sequential& model, const std::function<void(at::Tensor&)>& change) {
  const at::NoGradGuard no_graph;
  for (at::Tensor& parameter : model->parameters()) change(parameter);
  return model;
}

/// Trains under a monitor that sees loss, gradient norm, learning rate and validation, as an ordinary log would.
Outcome settled(const Ambiguous& sick) {
  at::set_num_threads(1);
  ::torch::manual_seed(sick.seed);
  nn::Sequential model = sick.model();
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(sick.rate).weight_decay(sick.weight_decay));
  MonitorOptions options;
  options.statistics_every = -1;
  options.trace_every = -1;
  options.check_every_gradient = true;
  options.batch_size = sick.batch;
  Monitor monitor(*model, optimizer, std::move(options));
  monitor.config("batch_size", std::to_string(sick.batch));
  if (sick.weight_decay > 0) monitor.config("weight_decay", fmt::format("{}", sick.weight_decay));
  const Training training{
      *model,
      optimizer,
      [&](const at::Tensor& x) { return sick.ending(model->forward(x)); },
      [](const at::Tensor& y, const at::Tensor& labels) { return at::cross_entropy_loss(y, labels); },
      [&] { return sick.data(sick.batch); },
      [&] { return sick.data(256); },
      10};
  for (int step = 0; step < sick.steps; ++step) {
    optimizer.param_groups()[0].options().set_lr(sick.rate * sick.decay(step));
    const Batch batch = training.next_batch();
    monitor.train_step([&] { return training.loss_of(batch); });
    if (step % 100 == 99) {
      const at::NoGradGuard no_graph;
      model->eval();
      monitor.validation(training.loss_of(training.next_validation_batch()).item<double>());
      model->train();
    }
  }
  const StepTimes times = monitor.times();
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome{settle(monitor, training), 0};
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  outcome.share = seconds / (times.data + times.forward + times.backward + times.optimizer + times.other);
  return outcome;
}

Ambiguous rate_too_low() {
  Ambiguous sick{"lr-too-low"};
  sick.rate = 1e-5;
  sick.steps = 1500;
  return sick;
}

Ambiguous rate_too_high() {
  Ambiguous sick{"lr-too-high"};
  sick.rate = 2;  // it kills every unit in the end
  return sick;
}

Ambiguous batch_too_small() {
  Ambiguous sick{"batch-too-small"};
  sick.batch = 1;
  sick.rate = 0.04;
  return sick;
}

Ambiguous rate_decayed() {
  Ambiguous sick{"lr-decayed-too-fast"};
  sick.decay = [](int step) { return std::pow(0.93, step / 4.0); };
  return sick;
}

Ambiguous dead_units() {
  Ambiguous sick{"dead-units"};
  sick.model = [healthy = sick.model] {
    nn::Sequential model = healthy();
    const at::NoGradGuard no_graph;
    model[2]->as<nn::Linear>()->bias.fill_(-20);
    return model;
  };
  return sick;
}

Ambiguous bad_initialization() {
  Ambiguous sick{"bad-initialization"};
  sick.model = [healthy = sick.model] { return prepared(healthy(), [](at::Tensor& parameter) { parameter.zero_(); }); };
  return sick;
}

Ambiguous wrong_labels() {
  Ambiguous sick{"wrong-labels"};
  sick.data = [healthy = sick.data](std::int64_t size) {
    Batch batch = healthy(size);
    batch.targets = at::randint(0, 10, {size}, at::kLong);
    return batch;
  };
  return sick;
}

Ambiguous model_too_small() {
  Ambiguous sick{"model-too-small"};
  sick.model = [] { return nn::Sequential(nn::Linear(32, 1), nn::Tanh(), nn::Linear(1, 10)); };
  return sick;
}

Ambiguous too_much_regularization() {
  Ambiguous sick{"too-much-regularization"};
  sick.weight_decay = 0.2;
  return sick;
}

Ambiguous converged() {
  Ambiguous sick{"converged"};
  sick.data = [healthy = sick.data](std::int64_t size) {
    Batch batch = healthy(size);
    const at::Tensor noisy = at::rand({size}).lt(0.3);
    batch.targets = at::where(noisy, at::randint(0, 10, {size}, at::kLong), batch.targets);
    return batch;
  };
  sick.batch = 256;
  sick.decay = [](int step) { return step < 1000 ? 1.0 : 0.1; };
  return sick;
}

/// Where the cause stands, from 1; 0 when it is not among them.
std::size_t rank(const Report& report, const std::string& cause) {
  for (std::size_t i = 0; i < report.causes.size(); ++i) {
    if (report.causes[i].cause == cause) return i + 1;
  }
  return 0;
}

void expect_settled(const Ambiguous& sick) {
  const Outcome outcome = settled(sick);
  EXPECT_EQ(rank(outcome.settled.report, sick.cause), 1U) << describe(outcome.settled);
  EXPECT_LE(outcome.settled.cost, sick.steps / 5);
  EXPECT_FALSE(outcome.settled.tests.empty());
}

TEST(Settle, ALearningRateThatIsTooLow) {
  expect_settled(rate_too_low());
}

TEST(Settle, DeadUnits) {
  expect_settled(dead_units());
}

TEST(Settle, KeepsToItsBudget) {
  Ambiguous sick = rate_too_low();
  sick.steps = 200;
  const Settled found = settled(sick).settled;
  EXPECT_EQ(found.budget, 40);
  EXPECT_LE(found.cost, 40);
  EXPECT_FALSE(found.ended.empty());
}

TEST(Settle, HasNothingToDoForAHealthyRun) {
  Ambiguous well{"nothing"};
  well.steps = 600;
  const Settled found = settled(well).settled;
  EXPECT_TRUE(found.report.causes.empty() || found.report.status == Status::healthy) << describe(found);
}

/// Ten runs, each sick in its own way; prints what became of each and gives back how often the true cause came first.
std::size_t first_among_ten(std::uint64_t seed) {
  std::size_t first = 0;
  for (Ambiguous sick :
       {rate_too_low(), rate_too_high(), batch_too_small(), rate_decayed(), dead_units(), bad_initialization(),
        wrong_labels(), model_too_small(), too_much_regularization(), converged()}) {
    sick.seed = seed;
    const Outcome outcome = settled(sick);
    const std::size_t before = rank(outcome.settled.before, sick.cause);
    const std::size_t after = rank(outcome.settled.report, sick.cause);
    // A run that has converged is healthy: there is nothing to settle, and no cause to name.
    const bool well = sick.cause == "converged" && outcome.settled.report.status == Status::healthy;
    first += after == 1 || well ? 1 : 0;
    std::printf("%-26s %zu -> %zu, %lld of %lld passes, %.0f %% of the time\n", sick.cause.c_str(), before, after,
                static_cast<long long>(outcome.settled.cost), static_cast<long long>(outcome.settled.budget),
                100 * outcome.share);
    std::printf("%s\n", describe(outcome.settled).c_str());
    EXPECT_LE(outcome.settled.cost, sick.steps / 5) << sick.cause;
  }
  return first;
}

TEST(Settle, TenAmbiguousRuns) {
  // Seven: a batch or a model that is too small leaves a log that looks healthy, and a rate that killed every unit
  // is taken for too little data.
  EXPECT_GE(first_among_ten(11), 7U);
}

// A minute: for those who change the experiments or what they say.
TEST(Settle, DISABLED_TenAmbiguousRunsWithOtherSeeds) {
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_GE(first_among_ten(seed), 8U) << "seed " << seed;
}

TEST(Settle, DISABLED_AnyRateThatIsTooHigh) {
  for (const double rate : {0.8, 1.0, 1.2, 1.5, 2.0, 3.0}) {
    Ambiguous sick = rate_too_high();
    sick.rate = rate;
    expect_settled(sick);
  }
}

}  // namespace
}  // namespace osler::torch
