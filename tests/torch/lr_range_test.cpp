// The range test on real trainings: its suggestion must train better than a tenth and ten times of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <limits>

#include "example_trainings.h"
#include "osler/torch/lr_range.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

struct Combination {
  std::string name;
  std::function<Trainee(const MakeOptimizer&, std::int64_t samples)> task;
  std::function<MakeOptimizer(double rate)> optimizer;
  int budget;            ///< steps, at most as many as leave the training unfinished
  std::int64_t samples;  ///< of a batch
};

/// The loss on many fresh samples after a fixed budget of steps, for one order of the batches.
double trained_loss(const Combination& combination, double rate, std::uint64_t order) {
  ::torch::manual_seed(1);
  const Trainee trainee = combination.task(combination.optimizer(rate), combination.samples);
  ::torch::manual_seed(order);
  for (int step = 0; step < combination.budget; ++step) {
    trainee.optimizer->zero_grad();
    trainee.training.loss_of(trainee.training.next_batch()).backward();
    trainee.optimizer->step();
  }
  // The same samples for every rate, so that only the training makes the difference.
  constexpr int kFresh = 16;
  ::torch::manual_seed(8);
  const at::NoGradGuard no_graph;
  double mean = 0;
  for (int i = 0; i < kFresh; ++i) {
    mean += trainee.training.loss_of(trainee.training.next_batch()).item<double>() / kFresh;
  }
  return std::isfinite(mean) ? mean : std::numeric_limits<double>::infinity();
}

/// The mean over a few orders of the batches.
double trained_loss(const Combination& combination, double rate) {
  constexpr int kOrders = 3;
  double mean = 0;
  for (int order = 0; order < kOrders; ++order) {
    mean += trained_loss(combination, rate, static_cast<std::uint64_t>(70 + order)) / kOrders;
  }
  return mean;
}

Experiment tested(const Combination& combination, const LrRangeOptions& options = {}) {
  ::torch::manual_seed(1);
  const Trainee trainee = combination.task(combination.optimizer(1e-3), combination.samples);
  ::torch::manual_seed(100);
  return lr_range_test(trainee.training, options);
}

/// Whether the suggestion trains better than a tenth and ten times of it; prints the numbers.
bool holds(const Combination& combination) {
  const Experiment found = tested(combination);
  const auto suggestion = found.value("suggestion");
  if (!suggestion) {
    std::cout << combination.name << ": " << found.verdict << "\n";
    return false;
  }
  const double below = trained_loss(combination, *suggestion / 10);
  const double at = trained_loss(combination, *suggestion);
  const double above = trained_loss(combination, *suggestion * 10);
  const bool better = at < below && at < above;
  std::cout << combination.name << ": " << *suggestion << " [" << *found.values.front().low << ", "
            << *found.values.front().high << "], loss at a tenth " << below << ", at it " << at << ", at ten times "
            << above << (better ? "" : "  <-- not better") << "\n";
  return better;
}

MakeOptimizer with_sgd(double rate) {
  return sgd(rate);
}
MakeOptimizer with_momentum(double rate) {
  return sgd(rate, 0.9);
}

std::vector<Combination> combinations() {
  const auto mlp_task = [](const MakeOptimizer& make, std::int64_t samples) { return mlp(make, samples); };
  const auto cnn_task = [](const MakeOptimizer& make, std::int64_t samples) { return cnn(make, samples); };
  const auto lstm_task = [](const MakeOptimizer& make, std::int64_t samples) { return lstm(make, samples); };
  const auto gpt_task = [](const MakeOptimizer& make, std::int64_t samples) { return gpt(make, samples); };
  return {{"MLP, SGD", mlp_task, with_sgd, 100, 64},
          {"MLP, Adam", mlp_task, adaptive<::torch::optim::Adam>, 100, 64},
          {"MLP, RMSprop", mlp_task, adaptive<::torch::optim::RMSprop>, 100, 64},
          {"CNN, Adam", cnn_task, adaptive<::torch::optim::Adam>, 100, 32},
          {"CNN, momentum", cnn_task, with_momentum, 100, 32},
          {"LSTM, Adam", lstm_task, adaptive<::torch::optim::Adam>, 800, 32},
          {"LSTM, RMSprop", lstm_task, adaptive<::torch::optim::RMSprop>, 800, 32},
          {"GPT, AdamW", gpt_task, adaptive<::torch::optim::AdamW>, 100, 4},
          {"GPT, SGD", gpt_task, with_sgd, 100, 4},
          {"GPT, Adagrad", gpt_task, adaptive<::torch::optim::Adagrad>, 100, 4}};
}

class LrRange : public testing::Test {
 protected:
  LrRange() { at::set_num_threads(1); }
};

TEST_F(LrRange, SuggestionsTrainBetterThanATenthAndTenTimesOfThem) {
  const std::vector<Combination> all = combinations();
  EXPECT_TRUE(holds(all[0]));
  EXPECT_TRUE(holds(all[1]));
  EXPECT_TRUE(holds(all[7]));
}

// Takes minutes: run it with --gtest_also_run_disabled_tests.
TEST_F(LrRange, DISABLED_SuggestionsHoldOnAllCombinations) {
  int held = 0;
  const std::vector<Combination> all = combinations();
  for (const Combination& combination : all) held += holds(combination) ? 1 : 0;
  std::cout << held << " of " << all.size() << " hold\n";
  EXPECT_GE(8 * held, 7 * static_cast<int>(all.size()));
}

TEST_F(LrRange, GivesTheCurveAndAllReadings) {
  LrRangeOptions options;
  options.repeats = 2;
  options.start = 1e-5;
  options.end = 100;  // where it surely diverges
  const Experiment found = tested(combinations()[0], options);
  EXPECT_EQ(found.probe, "lr-range-test");
  EXPECT_EQ(found.outcome, Outcome::failed) << "the present rate of 1e-3 is far below what plain SGD needs";
  for (const char* name : {"suggestion", "steepest", "valley", "minimum-tenth", "sliding-slope"}) {
    EXPECT_TRUE(found.value(name).has_value()) << name;
  }
  ASSERT_NE(found.column("learning-rate"), nullptr);
  EXPECT_DOUBLE_EQ(found.column("learning-rate")->values.front(), 1e-5);
  EXPECT_EQ(found.column("loss")->values.size(), found.column("smoothed")->values.size());
  EXPECT_EQ(experiment_from_json(to_json(found)).value(), found);
}

TEST_F(LrRange, LinearSpacingFindsTheSameRegion) {
  LrRangeOptions options;
  options.linear = true;
  options.start = 1e-3;
  options.end = 2;
  const Experiment found = tested(combinations()[0], options);
  ASSERT_TRUE(found.value("suggestion").has_value()) << found.verdict;
  EXPECT_GT(*found.value("suggestion"), 0.01);
  EXPECT_LT(*found.value("suggestion"), 1);
}

/// A training whose loss is given by a function of one parameter and a batch of noise.
struct Toy : ::torch::nn::Module {
  at::Tensor weight = register_parameter("weight", at::ones({1}));
  at::Tensor forward(const at::Tensor& x) { return x + 0 * weight; }
};

TEST_F(LrRange, RefusesWhenTheLossCannotBeImproved) {
  ::torch::manual_seed(3);
  // Whatever the weight, the loss is noise around one.
  const Trainee trainee = osler::torch::trainee(
      std::make_shared<Toy>(), sgd(0.1), [] { return std::pair(at::randn({16}), at::zeros({16})); },
      [](const at::Tensor& outputs, const at::Tensor&) { return 1 + 0.2 * outputs.mean(); });
  const Experiment found = lr_range_test(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::undecided);
  EXPECT_FALSE(found.value("suggestion").has_value());
  EXPECT_THAT(found.verdict, testing::HasSubstr("No learning rate can be suggested"));
}

TEST_F(LrRange, RefusesAtAMinimumOfRealTraining) {
  ::torch::manual_seed(1);
  // Labels that have nothing to do with the inputs, fresh ones in every batch: ln(10) is all there is to reach.
  const Trainee trainee = osler::torch::trainee(
      std::make_shared<examples::Mlp>(), adaptive<::torch::optim::Adam>(1e-3),
      [] {
        return std::pair(at::randn({64, 32}), at::randint(0, 10, {64}, at::kLong));
      },
      class_loss, 10);
  const Experiment found = lr_range_test(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::undecided) << found.verdict;
}

TEST_F(LrRange, TheIntervalIsHonestOnNoisyBatches) {
  // Batches of four: tests with other batches must mostly agree with the interval of the first ones.
  LrRangeOptions options;
  int within = 0;
  int given = 0;
  std::vector<Experiment> all;
  for (int seed = 0; seed < 6; ++seed) {
    ::torch::manual_seed(1);
    const Trainee trainee = mlp(adaptive<::torch::optim::Adam>(1e-3), 4);
    ::torch::manual_seed(1000 + seed);
    all.push_back(lr_range_test(trainee.training, options));
  }
  for (const Experiment& one : all) {
    if (!one.value("suggestion")) continue;
    for (const Experiment& other : all) {
      if (&one == &other || !other.value("suggestion")) continue;
      ++given;
      if (*other.value("suggestion") >= *one.values.front().low &&
          *other.value("suggestion") <= *one.values.front().high) {
        ++within;
      }
    }
  }
  std::cout << within << " of " << given << " other suggestions lie in the interval\n";
  // Two uncertain numbers differ by more than one of them is uncertain: 90 % intervals hold about three quarters.
  EXPECT_GE(10 * within, 7 * given);
}

TEST_F(LrRange, KeepsTheRatioOfParameterGroupsAndAccumulates) {
  ::torch::manual_seed(1);
  auto model = std::make_shared<examples::Mlp>();
  std::vector<std::pair<double, double>> seen;
  Trainee trainee = osler::torch::trainee(
      model,
      [&](const std::vector<at::Tensor>&) {
        auto optimizer =
            std::make_unique<::torch::optim::SGD>(model->fc1->parameters(), ::torch::optim::SGDOptions(0.01));
        auto own = std::make_unique<::torch::optim::SGDOptions>(0.1);
        optimizer->add_param_group({model->fc2->parameters(), std::move(own)});
        return optimizer;
      },
      [] { return examples::clouds(32); }, class_loss, 10);
  int batches = 0;
  const auto next = trainee.training.next_batch;
  trainee.training.next_batch = [&] {
    ++batches;
    auto& groups = trainee.optimizer->param_groups();
    seen.emplace_back(groups[0].options().get_lr(), groups[1].options().get_lr());
    return next();
  };
  LrRangeOptions options;
  options.steps = 40;
  options.repeats = 1;
  options.end = 0.1;
  options.accumulate = 3;
  const Experiment found = lr_range_test(trainee.training, options);
  EXPECT_EQ(batches, 3 * 40);
  for (const auto& [first, second] : seen) EXPECT_NEAR(second / first, 10, 1e-9);
  EXPECT_DOUBLE_EQ(trainee.optimizer->param_groups()[0].options().get_lr(), 0.01);
}

TEST_F(LrRange, WorksWithAnOptimizerThatNeedsAClosure) {
  ::torch::manual_seed(1);
  const Trainee trainee = mlp([](std::vector<at::Tensor> parameters) {
    return std::make_unique<::torch::optim::LBFGS>(std::move(parameters), ::torch::optim::LBFGSOptions(1).max_iter(2));
  });
  LrRangeOptions options;
  options.steps = 40;
  options.repeats = 1;
  const Experiment found = lr_range_test(trainee.training, options);
  EXPECT_NE(found.outcome, Outcome::stopped) << found.verdict;
}

TEST_F(LrRange, WarnsWhenBatchesAreSortedByClass) {
  ::torch::manual_seed(1);
  int drawn = 0;
  const Trainee trainee = osler::torch::trainee(
      std::make_shared<examples::Mlp>(), sgd(0.1),
      [&drawn] {
        const std::int64_t label = drawn++ / 10 % 10;
        return std::pair(at::randn({32, 32}) + static_cast<double>(label), at::full({32}, label, at::kLong));
      },
      class_loss, 10);
  LrRangeOptions options;
  options.repeats = 1;
  const Experiment found = lr_range_test(trainee.training, options);
  ASSERT_EQ(found.checks.size(), 1U);
  EXPECT_EQ(found.checks.front().id, "batches");
  EXPECT_THAT(found.verdict, testing::HasSubstr("not shuffled"));
}

TEST_F(LrRange, SaysWhatIsWrongWithOptions) {
  const Trainee trainee = mlp(sgd(0.1));
  LrRangeOptions options;
  options.end = 1e-9;
  EXPECT_THROW((void)lr_range_test(trainee.training, options), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
