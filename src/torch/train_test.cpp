// Whole trainings: resumed bit for bit, validated, ended early, brought back from NaN.
#include "osler/torch/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "torch/test_folder.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;
using testing::HasSubstr;

/// A small classifier with all that makes resuming hard, and its data.
struct Rig {
  explicit Rig(std::uint64_t seed = 1) {
    at::set_num_threads(1);
    ::torch::manual_seed(11);
    x = at::randn({60, 5});
    y = x.select(1, 0).gt(0).to(at::kLong) + x.select(1, 1).gt(0.5).to(at::kLong);
    validation_x = at::randn({20, 5});
    validation_y = validation_x.select(1, 0).gt(0).to(at::kLong) + validation_x.select(1, 1).gt(0.5).to(at::kLong);
    ::torch::manual_seed(seed);
    model = nn::Sequential(nn::Linear(5, 16), nn::BatchNorm1d(16), nn::ReLU(), nn::Dropout(0.3), nn::Linear(16, 3));
    optimizer = std::make_unique<optim::AdamW>(model->parameters(), optim::AdamWOptions(0.02));
  }

  [[nodiscard]] Training training() {
    return {.model = *model,
            .optimizer = *optimizer,
            .forward = [this](const at::Tensor& inputs) { return model->forward(inputs); },
            .loss = [](const at::Tensor& out, const at::Tensor& t) { return at::cross_entropy_loss(out, t); },
            .next_batch = {},
            .next_validation_batch = {},
            .classes = 3};
  }
  [[nodiscard]] Shuffled data(std::int64_t batch = 15) const { return {x, y, {.batch_size = batch, .seed = 21}}; }
  [[nodiscard]] Shuffled validation() const {
    return {validation_x, validation_y, {.batch_size = 8, .shuffle = false}};
  }
  [[nodiscard]] std::vector<at::Tensor> weights() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& p : model->parameters()) all.push_back(p.detach().clone());
    for (const at::Tensor& b : model->buffers()) all.push_back(b.clone());
    return all;
  }
  [[nodiscard]] double rate() const { return optimizer->param_groups()[0].options().get_lr(); }

  at::Tensor x;
  at::Tensor y;
  at::Tensor validation_x;
  at::Tensor validation_y;
  nn::Sequential model{nullptr};
  std::unique_ptr<optim::Optimizer> optimizer;
};

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i) equal = at::equal(a[i], b[i]);
  return equal;
}

struct TrainTest : testing::Test {
  static TrainOptions usual() {
    TrainOptions options;
    options.epochs = 10;
    options.schedule = warmup_cosine({.warmup = 5, .steps = 40});
    options.monitor.clip_norm = 1;
    options.loss_scale = LossScaleOptions{.start = 256, .growth_every = 7};
    return options;
  }
  /// Ends the training when so many steps are done.
  static void stop_at(TrainOptions& options, std::int64_t step, std::stop_source& source) {
    options.stop = source.get_token();
    options.progress_every = 0;
    options.on_progress = [step, &source](const TrainProgress& progress) {
      if (progress.step >= step) source.request_stop();
    };
  }
  template <typename Act>
  static std::string refusal(Act act) {
    try {
      act();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
  TestFolder own{"train"};
  const std::filesystem::path folder = own.path();
};

// ---- Going on.

TEST_F(TrainTest, GoesOnBitForBitWhereverItWasStopped) {
  for (const bool keep_best : {false, true}) {
    Rig straight;
    TrainOptions options = usual();
    options.keep_best = keep_best;
    const TrainResult whole = train(straight.training(), straight.data(), straight.validation(), std::move(options));
    EXPECT_EQ(whole.end, TrainEnd::finished);
    EXPECT_EQ(whole.steps, 40);
    for (const std::int64_t at : {1, 18, 20, 39}) {  // within an epoch, and between two
      const std::filesystem::path file = folder / ("at-" + std::to_string(at) + (keep_best ? "-best" : ""));
      Rig before;
      TrainOptions first = usual();
      first.keep_best = keep_best;
      first.checkpoint = file;
      std::stop_source source;
      stop_at(first, at, source);
      const TrainResult part = train(before.training(), before.data(), before.validation(), std::move(first));
      EXPECT_EQ(part.end, TrainEnd::stopped);
      EXPECT_EQ(part.steps, at);

      Rig after(77);  // other weights, other random numbers: all must come from the checkpoint
      TrainOptions second = usual();
      second.keep_best = keep_best;
      second.checkpoint = file;
      const TrainResult rest = train(after.training(), after.data(), after.validation(), std::move(second));
      EXPECT_TRUE(rest.resumed);
      EXPECT_EQ(rest.end, TrainEnd::finished);
      EXPECT_EQ(rest.steps, 40);
      EXPECT_EQ(rest.loss, whole.loss);
      EXPECT_EQ(rest.best_validation_loss, whole.best_validation_loss);
      EXPECT_EQ(rest.best_step, whole.best_step);
      EXPECT_TRUE(same(after.weights(), straight.weights())) << "stopped at " << at;
    }
  }
}

TEST_F(TrainTest, GoesOnForMoreEpochsAndOtherwiseHasNothingToDo) {
  Rig straight;
  train(straight.training(), straight.data(), usual());
  Rig rig;
  TrainOptions options = usual();
  options.epochs = 4;
  options.checkpoint = folder / "last";
  EXPECT_EQ(train(rig.training(), rig.data(), std::move(options)).steps, 16);
  for (int again = 0; again < 2; ++again) {
    Rig later(5 + static_cast<std::uint64_t>(again));
    options = usual();
    options.checkpoint = folder / "last";
    EXPECT_EQ(train(later.training(), later.data(), std::move(options)).steps, 40);
    EXPECT_TRUE(same(later.weights(), straight.weights()));
  }
}

TEST_F(TrainTest, RefusesACheckpointOfOtherDataOrADamagedOne) {
  Rig rig;
  const auto with_checkpoint = [&] {
    TrainOptions options = usual();
    options.epochs = 1;
    options.checkpoint = folder / "last";
    return options;
  };
  train(rig.training(), rig.data(), with_checkpoint());
  EXPECT_THAT(refusal([&] { train(rig.training(), rig.data(12), with_checkpoint()); }), HasSubstr("batches of 15"));
  std::ofstream(folder / "last") << "nothing";
  EXPECT_THAT(refusal([&] { train(rig.training(), rig.data(), with_checkpoint()); }),
              HasSubstr("not a checkpoint of Osler's; move the file away"));
}

TEST_F(TrainTest, TrainsToTheEndWhereNoCheckpointCanBeWritten) {
  Rig rig;
  TrainOptions options = usual();
  options.checkpoint = folder / "no" / "such" / "folder" / "last";
  const TrainResult result = train(rig.training(), rig.data(), std::move(options));
  EXPECT_EQ(result.end, TrainEnd::finished);
  ASSERT_TRUE(result.checkpoint_error);
}

// ---- Validation.

TEST_F(TrainTest, ValidatesInEvaluationModeWithoutAGraphAndTrainsInTrainingMode) {
  Rig rig;
  rig.model->eval();  // forgotten by the user
  Training training = rig.training();
  int wrong = 0;
  int trained = 0;
  int validated = 0;
  training.forward = [&](const at::Tensor& inputs) {
    const bool validation = inputs.size(0) != 15;
    (validation ? validated : trained) += 1;
    if (rig.model->is_training() == validation || at::GradMode::is_enabled() == validation) ++wrong;
    at::Tensor out = rig.model->forward(inputs);
    if (!validation) rig.model->eval();  // a mistake of the user's that must not reach the next step
    return out;
  };
  TrainOptions options = usual();
  options.epochs = 3;
  train(training, rig.data(), rig.validation(), std::move(options));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trained, 12);
  EXPECT_EQ(validated, 9);
}

TEST_F(TrainTest, LeavesFrozenModulesInTheirMode) {
  Rig rig;
  rig.model[1]->eval();
  const at::Tensor statistics = rig.model[1]->buffers()[0].clone();
  TrainOptions options = usual();
  options.epochs = 2;
  options.keep_best = false;
  train(rig.training(), rig.data(), rig.validation(), std::move(options));
  EXPECT_FALSE(rig.model[1]->is_training());
  EXPECT_TRUE(rig.model->is_training());
  EXPECT_TRUE(at::equal(rig.model[1]->buffers()[0], statistics));
}

TEST_F(TrainTest, TrainsTheSameWithAndWithoutValidation) {
  Rig with;
  TrainOptions options = usual();
  options.keep_best = false;
  options.validate_every = 3;
  train(with.training(), with.data(), with.validation(), std::move(options));
  Rig without;  // made now, so that it starts from the same random numbers
  train(without.training(), without.data(), usual());
  EXPECT_TRUE(same(with.weights(), without.weights()));
}

TEST_F(TrainTest, AveragesValidationOverSamplesNotBatches) {
  Rig rig;
  TrainOptions options;
  options.keep_best = false;
  double told = 0;
  double samples = 0;
  options.metrics = [&](const at::Tensor& outputs, const at::Tensor& targets) {
    const double right = outputs.argmax(1).eq(targets).to(at::kDouble).mean().item<double>();
    told += right * static_cast<double>(targets.size(0));
    samples += static_cast<double>(targets.size(0));
    return std::vector<std::pair<std::string, double>>{{"accuracy", right}};
  };
  const TrainResult result = train(rig.training(), rig.data(), rig.validation(), std::move(options));
  rig.model->eval();
  const at::NoGradGuard no_graph;
  const double loss = at::cross_entropy_loss(rig.model->forward(rig.validation_x), rig.validation_y).item<double>();
  EXPECT_NEAR(*result.validation_loss, loss, 1e-6);
  EXPECT_EQ(samples, 20);
}

TEST_F(TrainTest, EndsEarlyAndPutsTheBestWeightsBack) {
  Rig rig;
  rig.validation_y = 2 - rig.validation_y;  // the better it learns, the worse it validates
  std::vector<std::vector<at::Tensor>> seen;
  TrainOptions options = usual();
  options.epochs = 50;
  options.early_stopping = EarlyStopping{.patience = 4};
  options.metrics = [&](const at::Tensor& /*outputs*/, const at::Tensor& targets) {
    if (targets.size(0) == 4) seen.push_back(rig.weights());  // the last batch of a validation
    return std::vector<std::pair<std::string, double>>{};
  };
  options.checkpoint = folder / "last";
  const TrainResult result = train(rig.training(), rig.data(), rig.validation(), std::move(options));
  EXPECT_EQ(result.end, TrainEnd::no_gain);
  EXPECT_EQ(result.steps, result.best_step + 4 * 4);
  EXPECT_GT(*result.validation_loss, *result.best_validation_loss);
  EXPECT_TRUE(same(rig.weights(), seen.at(seen.size() - 5)));

  // Resumed, it has nothing to do, and gives the same weights.
  Rig later(9);
  options = usual();
  options.epochs = 50;
  options.early_stopping = EarlyStopping{.patience = 4};
  options.checkpoint = folder / "last";
  const TrainResult again = train(later.training(), later.data(), later.validation(), std::move(options));
  EXPECT_EQ(again.end, TrainEnd::no_gain);
  EXPECT_EQ(again.steps, result.steps);
  EXPECT_TRUE(same(later.weights(), rig.weights()));
}

// ---- Steps.

TEST_F(TrainTest, AccumulatesGradientsToThoseOfOneLargeBatch) {
  const auto weights_with = [](std::int64_t batch, std::int64_t accumulate) {
    Rig rig;
    rig.model = nn::Sequential(nn::Linear(5, 8), nn::Tanh(), nn::Linear(8, 3));
    ::torch::manual_seed(3);
    for (at::Tensor& p : rig.model->parameters()) nn::init::uniform_(p, -0.5, 0.5);
    rig.optimizer = std::make_unique<optim::SGD>(rig.model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    TrainOptions options;
    options.epochs = 3;
    options.accumulate = accumulate;
    // 60 samples in steps of 32 and 28; the last of the small batches holds 4.
    EXPECT_EQ(steps_of(rig.data(batch), options), 6);
    EXPECT_EQ(train(rig.training(), rig.data(batch), std::move(options)).steps, 6);
    return rig.weights();
  };
  const std::vector<at::Tensor> large = weights_with(32, 1);
  const std::vector<at::Tensor> small = weights_with(8, 4);
  for (std::size_t i = 0; i < large.size(); ++i) EXPECT_TRUE(at::allclose(large[i], small[i], 1e-4, 1e-6));
}

TEST_F(TrainTest, TrainsAsAPlainLoopDoes) {
  Rig plain;
  const Shuffled data = plain.data();
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t i = 0; i < data.batches(); ++i) {
      const Batch batch = data.batch(epoch, i);
      plain.optimizer->zero_grad();
      at::cross_entropy_loss(plain.model->forward(batch.inputs), batch.targets).backward();
      plain.optimizer->step();
    }
  }
  Rig rig;
  TrainOptions options;
  options.epochs = 3;
  train(rig.training(), rig.data(), std::move(options));
  EXPECT_TRUE(same(rig.weights(), plain.weights()));
}

TEST_F(TrainTest, FollowsTheSchedule) {
  Rig rig;
  TrainOptions options = usual();
  options.epochs = 6;
  const Schedule schedule = options.schedule;
  train(rig.training(), rig.data(), std::move(options));
  EXPECT_DOUBLE_EQ(rig.rate(), 0.02 * schedule.at(24).rate);
}

TEST_F(TrainTest, LeavesStepsOutThatOverflowAtTheLossScale) {
  Rig rig;
  for (const at::Tensor& p : rig.model->parameters()) {
    p.register_hook([](const at::Tensor& g) { return g.to(at::kHalf).to(at::kFloat); });
  }
  TrainOptions options;
  options.epochs = 6;
  options.loss_scale = LossScaleOptions{.start = 16777216};
  const TrainResult result = train(rig.training(), rig.data(), std::move(options));
  EXPECT_GT(result.overflows, 0);
  EXPECT_LT(result.overflows, 20);
  EXPECT_EQ(result.skipped, 0);
  EXPECT_EQ(result.steps, 24);
  EXPECT_LT(result.loss, 1.1);
}

// ---- The guard.

TEST_F(TrainTest, LeavesSingleBadBatchesOut) {
  Rig rig;
  Loader data = rig.data();
  const auto inner = data.batch;
  data.batch = [inner](std::int64_t epoch, std::int64_t index) {
    Batch batch = inner(epoch, index);
    if (index == 2) batch.inputs = batch.inputs * std::nan("");
    return batch;
  };
  const TrainResult result = train(rig.training(), data, usual());
  EXPECT_EQ(result.end, TrainEnd::finished);
  EXPECT_EQ(result.skipped, 10);
  EXPECT_EQ(result.roll_backs, 0);
  EXPECT_TRUE(at::isfinite(rig.weights()[0]).all().item<bool>());
}

TEST_F(TrainTest, GoesBackToGoodWeightsAndHalvesTheRate) {
  Rig rig;
  rig.optimizer = std::make_unique<optim::SGD>(rig.model->parameters(), optim::SGDOptions(0.1));
  TrainOptions options;
  options.epochs = 10;
  options.roll_back = {.after = 3, .keep_every = 2};
  options.progress_every = 0;
  options.on_progress = [&](const TrainProgress& progress) {
    const at::NoGradGuard no_graph;
    if (progress.step == 9) rig.model->parameters()[0].fill_(std::nan(""));  // as a step that went too far
  };
  const TrainResult result = train(rig.training(), rig.data(), std::move(options));
  EXPECT_EQ(result.end, TrainEnd::finished);
  EXPECT_EQ(result.roll_backs, 1);
  EXPECT_EQ(result.skipped, 3);
  EXPECT_DOUBLE_EQ(rig.rate(), 0.05);
  EXPECT_TRUE(at::isfinite(rig.weights()[0]).all().item<bool>());
  EXPECT_LT(result.loss, 1.1);
}

TEST_F(TrainTest, GivesUpWhenGoingBackDoesNotHelp) {
  Rig rig;
  Training training = rig.training();
  int calls = 0;
  training.loss = [&](const at::Tensor& out, const at::Tensor& targets) {
    const at::Tensor loss = at::cross_entropy_loss(out, targets);
    return ++calls > 10 ? loss * std::nan("") : loss;
  };
  TrainOptions options;
  options.epochs = 100;
  options.roll_back = {.after = 2, .most = 2};
  options.checkpoint = folder / "last";
  const TrainResult result = train(training, rig.data(), std::move(options));
  EXPECT_EQ(result.end, TrainEnd::lost);
  EXPECT_EQ(result.roll_backs, 2);
  EXPECT_EQ(result.steps, 10 + 3 * 2);
  EXPECT_TRUE(at::isfinite(rig.weights()[0]).all().item<bool>());
}

// ---- What is told.

TEST_F(TrainTest, TellsProgressAndTheMonitorsDiagnosis) {
  Rig rig;
  std::vector<TrainProgress> told;
  TrainOptions options = usual();
  options.progress_every = 0;
  options.monitor.classes = 3;
  options.on_progress = [&](const TrainProgress& progress) { told.push_back(progress); };
  const TrainResult result = train(rig.training(), rig.data(), rig.validation(), std::move(options));
  ASSERT_EQ(told.size(), 41U);
  EXPECT_EQ(told[5].step, 6);
  EXPECT_EQ(told[5].epoch, 1);
  EXPECT_EQ(told.back().step, 40);
  EXPECT_EQ(told.back().seconds_left, 0);
  EXPECT_TRUE(told.back().validation_loss);
  EXPECT_EQ(result.report.run_name, "training");
}

TEST(TrainProgressLine, HasABarAndTheTimeThatIsLeft) {
  TrainProgress progress{.epoch = 2, .epochs = 10, .step = 250, .steps = 1000, .loss = 0.52134, .rate = 1e-3};
  progress.seconds = 61;
  progress.seconds_left = 3725;
  EXPECT_EQ(progress_line(progress),
            "epoch 3/10 [#####---------------]  25 % step 250/1000 loss 0.5213 rate 0.001, 1:01 gone, 1:02:05 left");
  progress.validation_loss = 0.75;
  EXPECT_THAT(progress_line(progress), HasSubstr("loss 0.5213 validation 0.75 rate"));
  EXPECT_THAT(progress_line({}), HasSubstr("100 %"));
}

TEST_F(TrainTest, RefusesWhatMakesNoSense) {
  Rig rig;
  const auto refused = [&](auto change) {
    TrainOptions options;
    change(options);
    return refusal([&] { train(rig.training(), rig.data(), std::move(options)); });
  };
  EXPECT_THAT(refused([](TrainOptions& o) { o.accumulate = 0; }), HasSubstr("at least one batch"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.epochs = -1; }), HasSubstr("-1 epochs"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.roll_back.rate = 0; }), HasSubstr("going back"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.early_stopping = EarlyStopping{.patience = 0}; }), HasSubstr("patience"));
  EXPECT_THAT(refusal([&] { train(rig.training(), Loader{}, TrainOptions{}); }), HasSubstr("no batches"));
  Training training = rig.training();
  training.loss = nullptr;
  EXPECT_THAT(refusal([&] { train(training, rig.data(), TrainOptions{}); }), HasSubstr("forward and loss"));
  rig.optimizer = std::make_unique<optim::LBFGS>(rig.model->parameters());
  EXPECT_THAT(refused([](TrainOptions&) {}), HasSubstr("LBFGS"));
}

}  // namespace
}  // namespace osler::torch
