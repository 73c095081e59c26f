// The monitor in programs that are not the plain loop: wrong use, several optimizers, batches that cannot be repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "osler/torch/monitor.h"
#include "torch/test_seed.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct MonitorUseTest : TestSeed, testing::Test {
  MonitorUseTest() : TestSeed(1) {}
  nn::Sequential model{nn::Linear(4, 8), nn::BatchNorm1d(8), nn::ReLU(), nn::Linear(8, 3)};
  ::torch::optim::SGD optimizer{model->parameters(), ::torch::optim::SGDOptions(0.1)};
  at::Tensor x = at::randn({12, 4});
  at::Tensor y = at::arange(12).remainder(3);

  at::Tensor loss() { return at::cross_entropy_loss(model->forward(x), y); }
  /// One step of the plain loop.
  bool step(Monitor& monitor, const at::Tensor& value) {
    optimizer.zero_grad();
    value.backward();
    const bool go = monitor.step(value);
    if (go) optimizer.step();
    return go;
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
  std::string refusal_of(const std::function<void(MonitorOptions&)>& change) {
    MonitorOptions options;
    change(options);
    return refusal([&] { Monitor(*model, optimizer, std::move(options)); });
  }
  static std::vector<std::string> found(Monitor& monitor) {
    std::vector<std::string> ids;
    for (const Observation& observation : monitor.report().findings) ids.push_back(observation.finding);
    return ids;
  }
};

TEST_F(MonitorUseTest, RefusesNumbersThatMeanNothing) {
  using Options = MonitorOptions;
  EXPECT_THAT(refusal_of([](Options& o) { o.clip_norm = -1; }), HasSubstr("clip_norm is -1: write a limit above 0"));
  EXPECT_THAT(refusal_of([](Options& o) { o.clip_value = 0; }), HasSubstr("clip_value is 0"));
  EXPECT_THAT(refusal_of([](Options& o) { o.clip_adaptive = kNan; }), HasSubstr("clip_adaptive is nan"));
  EXPECT_THAT(refusal_of([](Options& o) { o.budget = -0.1; }), HasSubstr("budget is -0.1"));
  EXPECT_THAT(refusal_of([](Options& o) { o.classes = 0; }), HasSubstr("classes is 0"));
  EXPECT_THAT(refusal_of([](Options& o) { o.batch_size = 0; }), HasSubstr("batch_size is 0"));
  EXPECT_THAT(refusal_of([](Options& o) { o.trace_every = -2; }), HasSubstr("trace_every is -2"));
  EXPECT_THAT(refusal_of([](Options& o) { o.histograms_every = -2; }), HasSubstr("histograms_every is -2"));
  EXPECT_THAT(refusal_of([](Options& o) { o.line_every = -1; }), HasSubstr("line_every is -1"));
  EXPECT_THAT(refusal_of([](Options& o) { o.ranks_every = -1; }), HasSubstr("ranks_every is -1"));
  EXPECT_THAT(refusal_of([](Options& o) { o.first_step = -5; }), HasSubstr("first_step is -5"));
  EXPECT_EQ(refusal_of([](Options& o) { o.clip_norm = 1; }), "");
}

TEST_F(MonitorUseTest, RefusesWhatIsNoFunctionOrHasNoGraph) {
  Monitor monitor(*model, optimizer);
  EXPECT_THAT(refusal([&] { monitor.train_step({}); }), HasSubstr("given no function"));
  EXPECT_THAT(refusal([&] { monitor.train_step([&] { return loss().detach(); }); }),
              HasSubstr("depends on no parameter"));
  EXPECT_TRUE(monitor.train_step([&] { return loss(); }));
}

TEST_F(MonitorUseTest, RefusesToRunTheStepsOfLBFGS) {
  ::torch::optim::LBFGS second_order(model->parameters());
  Monitor monitor(*model, second_order);
  EXPECT_THAT(refusal([&] { monitor.train_step([&] { return loss(); }); }), HasSubstr("LBFGS"));
}

TEST_F(MonitorUseTest, PutsRunningStatisticsBackWithStepAlone) {
  Monitor monitor(*model, optimizer);
  ASSERT_TRUE(step(monitor, loss()));
  std::vector<at::Tensor> before;
  for (const at::Tensor& buffer : model->buffers()) before.push_back(buffer.clone());
  at::Tensor bad = x.clone();
  bad[3][1] = kNan;
  EXPECT_FALSE(step(monitor, at::cross_entropy_loss(model->forward(bad), y)));
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(at::equal(model->buffers()[i], before[i])) << i;
  EXPECT_TRUE(step(monitor, loss()));
}

TEST_F(MonitorUseTest, LetsNoNanThroughThatReachesOnlyAnEmbedding) {
  struct Words : nn::Module {
    nn::Embedding table{register_module("table", nn::Embedding(100, 64))};
    nn::Linear out{register_module("out", nn::Linear(64, 3))};
  } words;
  ::torch::optim::SGD words_optimizer(words.parameters(), 0.1);
  MonitorOptions options;
  options.budget = 1e-12;
  Monitor monitor(words, words_optimizer, std::move(options));
  for (int i = 0; i < 60; ++i) {
    const bool broken = i == 58;  // neither one of the first steps nor one that is sampled
    words_optimizer.zero_grad();
    const at::Tensor embedded = words.table(at::randint(100, {12}));
    if (broken) embedded.register_hook([](const at::Tensor& gradient) { return gradient * kNan; });
    const at::Tensor value = at::cross_entropy_loss(words.out(embedded), y);
    value.backward();
    EXPECT_EQ(monitor.step(value), !broken) << i;
    if (!broken) words_optimizer.step();
  }
  EXPECT_TRUE(find_nonfinite(words).empty());
}

TEST_F(MonitorUseTest, LooksAtSparseGradientsAndInputs) {
  struct Words : nn::Module {
    nn::Embedding table{register_module("table", nn::Embedding(nn::EmbeddingOptions(50, 8).sparse(true)))};
    nn::Linear out{register_module("out", nn::Linear(8, 3))};
  } words;
  ::torch::optim::SGD words_optimizer(words.parameters(), 0.1);
  Monitor monitor(words, words_optimizer);
  EXPECT_TRUE(monitor.batch(x.to_sparse(), y));
  words_optimizer.zero_grad();
  const at::Tensor value = at::cross_entropy_loss(words.out(words.table(at::arange(12))), y);
  value.backward();
  EXPECT_TRUE(monitor.step(value));
  words_optimizer.zero_grad();
  const at::Tensor broken = at::cross_entropy_loss(words.out(words.table(at::arange(12)) * kNan), y);
  broken.backward();
  EXPECT_FALSE(monitor.step(broken));
}

TEST_F(MonitorUseTest, ParametersOfAnotherOptimizerAreNotLeftOut) {
  const auto half = [&](std::size_t from, std::size_t to) {
    const std::vector<at::Tensor> all = model->parameters();
    return std::vector<at::Tensor>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                   all.begin() + static_cast<std::ptrdiff_t>(to));
  };
  ::torch::optim::SGD first(half(0, 4), 0.05);
  ::torch::optim::SGD second(half(4, 6), 0.05);
  Monitor monitor(*model, first);
  for (int i = 0; i < 60; ++i) {
    second.zero_grad();
    monitor.train_step([&] { return loss(); });
    if (i % 5 == 0) second.step();  // takes turns
    if (i % 10 == 9) {
      EXPECT_THAT(found(monitor), Not(Contains("parameters-not-optimized"))) << i;
    }
  }
  EXPECT_THAT(monitor.quick_check(), testing::IsEmpty());
}

TEST_F(MonitorUseTest, ParametersThatNobodyTrainsAreToldWithinAHundredSteps) {
  ::torch::optim::SGD partial({model->parameters()[0]}, 0.05);
  Monitor monitor(*model, partial);
  for (int i = 0; i < 100; ++i) monitor.train_step([&] { return loss(); });
  EXPECT_THAT(found(monitor), Contains("parameters-not-optimized"));
}

TEST_F(MonitorUseTest, GroupsAddedLaterAndUnfrozenLayersAreUnderstood) {
  for (at::Tensor& parameter : model[0]->parameters()) parameter.set_requires_grad(false);
  std::vector<at::Tensor> later = model[0]->parameters();
  const std::vector<at::Tensor> now = {model->parameters()[2], model->parameters()[3], model->parameters()[4],
                                       model->parameters()[5]};
  ::torch::optim::SGD growing(now, 0.05);
  Monitor monitor(*model, growing);
  for (int i = 0; i < 60; ++i) {
    if (i == 25) {
      for (at::Tensor& parameter : later) parameter.set_requires_grad(true);
      growing.add_param_group(
          ::torch::optim::OptimizerParamGroup(later, std::make_unique<::torch::optim::SGDOptions>(0.05)));
    }
    monitor.train_step([&] { return loss(); });
  }
  EXPECT_THAT(found(monitor), Not(Contains("parameters-not-optimized")));
  EXPECT_THAT(found(monitor), Not(Contains("weights-frozen"))) << monitor.summary();
}

TEST_F(MonitorUseTest, IgnoredLabelsAreNotInvalid) {
  const at::Tensor masked = y.clone();
  masked.slice(0, 0, 6).fill_(-100);
  const BatchReport report = validate_batch(x, masked, {3, 100});
  EXPECT_EQ(report.invalid_labels, 0U);
  EXPECT_EQ(report.ignored_labels, 6U);
  EXPECT_EQ(validate_batch(x, at::full({12}, -100, at::kLong), {3, 100}).constant_label, false);
  EXPECT_EQ(validate_batch(x, at::full({12}, -1, at::kLong), {3, 100}).invalid_labels, 12U);
}

TEST_F(MonitorUseTest, TheStepOfAnotherNetworkIsNoWaitingForData) {
  nn::Sequential other{nn::Linear(4, 1)};
  ::torch::optim::SGD theirs(other->parameters(), 0.1);
  Monitor monitor(*model, optimizer);
  for (int i = 0; i < 30; ++i) {
    theirs.zero_grad();
    other->forward(x).mean().backward();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    monitor.train_step([&] { return loss(); });
  }
  EXPECT_EQ(monitor.times().data, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // and this is
  monitor.train_step([&] { return loss(); });
  EXPECT_GT(monitor.times().data, 0);
}

TEST_F(MonitorUseTest, TrainStepClearsGradientsAndIsNotAccusedOfKeepingThem) {
  Monitor monitor(*model, optimizer);
  double scale = 1;
  for (int i = 0; i < 80; ++i) {
    // One gradient like the other, each larger: as if they were summed up.
    monitor.train_step([&] { return loss() * 0 + (model->forward(x) * scale).mean(); });
    scale += 1;
  }
  EXPECT_THAT(found(monitor), Not(Contains("gradients-accumulating")));
}

TEST_F(MonitorUseTest, SaysWhenAStepCannotBeRepeated) {
  MonitorOptions options;
  std::string line;
  options.on_line = [&](const std::string& text) { line = text; };
  Monitor monitor(*model, optimizer, std::move(options));
  int drawn = 0;
  at::Tensor bad = x.clone();
  bad[0][0] = kNan;
  EXPECT_FALSE(monitor.train_step([&] {
    return at::cross_entropy_loss(model->forward(drawn++ == 0 ? bad : x), y);  // the batch is drawn in here
  }));
  EXPECT_THAT(line, HasSubstr("Draw the batch outside of it"));
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->place, OriginPlace::forward);
}

TEST_F(MonitorUseTest, TellsAMaskedTargetClass) {
  Monitor monitor(*model, optimizer);
  const at::Tensor forbidden = at::zeros({3}).index_fill(0, at::full({1}, 2, at::kLong), 1).to(at::kBool);
  EXPECT_FALSE(monitor.train_step([&] {
    return at::cross_entropy_loss(model->forward(x).masked_fill(forbidden, -std::numeric_limits<double>::infinity()),
                                  y);
  }));
  ASSERT_TRUE(monitor.origin());
  EXPECT_THAT(describe(*monitor.origin()), HasSubstr("a target's class has the probability zero"));
}

TEST_F(MonitorUseTest, LooksAtEverythingWithinTheFirstFiftyStepsWhateverTheBudget) {
  MonitorOptions options;
  options.budget = 1e-9;
  Monitor monitor(*model, optimizer, std::move(options));
  for (int i = 0; i < 50; ++i) {
    monitor.batch(x, y);
    ASSERT_TRUE(step(monitor, loss()));
  }
  const Report report = monitor.report();
  for (const char* role : {"layer-gradient", "layer-weight", "layer-update", "layer-activation"}) {
    EXPECT_TRUE(report.roles.contains(role)) << role;
  }
  for (const char* id : {"gradients-accumulating", "weights-frozen", "dead-layer", "eval-mode-in-training"}) {
    EXPECT_THAT(report.checks_ran, Contains(id));
  }
}

}  // namespace
}  // namespace osler::torch
