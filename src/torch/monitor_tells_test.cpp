// What the monitor tells a person: lines, notes, layers, histograms, clipping, epochs, and where it ends a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "osler/recorder/sink.h"
#include "osler/torch/monitor.h"
#include "torch/test_seed.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct MonitorTellsTest : TestSeed, testing::Test {
  MonitorTellsTest() : TestSeed(1) {}
  nn::Sequential model{nn::Linear(4, 16), nn::ReLU(), nn::Linear(16, 3)};
  ::torch::optim::SGD optimizer{model->parameters(), ::torch::optim::SGDOptions(0.1)};
  at::Tensor x = at::randn({24, 4});
  at::Tensor y = at::arange(24).remainder(3);
  std::vector<std::string> lines;

  MonitorOptions quiet() {
    MonitorOptions options;
    options.diagnose_every = -1;
    options.on_line = [this](const std::string& line) { lines.push_back(line); };
    return options;
  }
  double step(Monitor& monitor) {
    optimizer.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(model->forward(x), y);
    loss.backward();
    if (monitor.step(loss)) optimizer.step();
    return loss.item<double>();
  }
};

/// What a monitor has recorded, by name.
struct Kept {
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::vector<Histogram>> histograms;
  std::vector<Mark> marks;
};

class KeepingSink final : public Sink {
 public:
  explicit KeepingSink(Kept& kept) : kept_(kept) {}
  std::string name() const override { return "memory"; }
  Result<void> write(const RecordBatch& batch) override {
    for (const Event& event : batch.events) kept_.values[batch.names[event.series]].push_back(event.value);
    for (const Histogram& each : batch.histograms) kept_.histograms[batch.names[each.series]].push_back(each);
    kept_.marks.insert(kept_.marks.end(), batch.marks.begin(), batch.marks.end());
    return {};
  }
  Result<void> close() override { return {}; }

 private:
  Kept& kept_;
};

TEST_F(MonitorTellsTest, ALineEverySoManySteps) {
  MonitorOptions options = quiet();
  options.line_every = 10;
  options.clip_norm = 1e-3;
  Monitor monitor(*model, optimizer, std::move(options));
  for (int i = 0; i < 21; ++i) step(monitor);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines.front(), StartsWith("osler: step 0  loss 1."));
  EXPECT_THAT(lines.back(), StartsWith("osler: step 20  loss 1."));
  for (const char* part : {"trend -", "norm ", " [clipped]  clipped 100 %  lr 0.1"}) {
    EXPECT_THAT(lines.back(), HasSubstr(part));
  }
}

TEST_F(MonitorTellsTest, NoLineThatNobodyAskedFor) {
  Monitor monitor(*model, optimizer, quiet());
  for (int i = 0; i < 5; ++i) step(monitor);
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(MonitorTellsTest, RecordsByHowMuchEachStepWasClipped) {
  Kept kept;
  MonitorOptions options = quiet();
  options.sinks.push_back(std::make_unique<KeepingSink>(kept));
  options.clip_norm = 0.25;
  Monitor monitor(*model, optimizer, std::move(options));
  for (int i = 0; i < 40; ++i) step(monitor);
  ASSERT_TRUE(monitor.close());
  const auto& norms = kept.values["grad_norm"];
  const auto& factors = kept.values["osler/clip-factor"];
  const auto& marks = kept.values["clipped"];
  ASSERT_EQ(norms.size(), 40U);
  ASSERT_EQ(factors.size(), 40U);
  ASSERT_EQ(marks.size(), 40U);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    EXPECT_NEAR(factors[i], std::min(1.0, 0.25 / norms[i]), 1e-6);
    EXPECT_EQ(marks[i], norms[i] > 0.25 ? 1 : 0);
  }
  const auto clipped = std::count(marks.begin(), marks.end(), 1.0);
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, 40);
  EXPECT_DOUBLE_EQ(monitor.clipped_share(), static_cast<double>(clipped) / 40);
}

TEST_F(MonitorTellsTest, RecordsTheMeanLossOfEachEpoch) {
  Kept kept;
  MonitorOptions options = quiet();
  options.sinks.push_back(std::make_unique<KeepingSink>(kept));
  Monitor monitor(*model, optimizer, std::move(options));
  std::vector<double> means;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += step(monitor);
    monitor.epoch(epoch);
    means.push_back(sum / 4);
  }
  const Report report = monitor.report();
  EXPECT_EQ(report.roles.at("train-loss").front(), "train/loss");
  ASSERT_TRUE(monitor.close());
  EXPECT_THAT(kept.values["train/loss_epoch"], testing::Pointwise(testing::DoubleNear(1e-6), means));
}

TEST_F(MonitorTellsTest, KeepsARemarkOfTheUsers) {
  Monitor monitor(*model, optimizer, quiet());
  step(monitor);
  monitor.note("doubled the batch");
  const Report report = monitor.report();
  ASSERT_EQ(report.marks.size(), 1U);
  EXPECT_EQ(report.marks.front().text, "doubled the batch");
  EXPECT_EQ(report.marks.front().kind, Mark::Kind::note);
}

TEST_F(MonitorTellsTest, ThrowsAtTheFirstBrokenStepWhenAsked) {
  Kept kept;
  MonitorOptions options = quiet();
  options.sinks.push_back(std::make_unique<KeepingSink>(kept));
  options.throw_nonfinite = true;
  Monitor monitor(*model, optimizer, std::move(options));
  step(monitor);
  const at::Tensor before = model->parameters()[0].detach().clone();
  x[3][1] = std::nan("");
  const auto message = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const NonfiniteError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([&] { step(monitor); }), StartsWith("osler: step 1: The loss is not finite."));
  const auto compute = [&] { return at::cross_entropy_loss(model->forward(x), y); };
  EXPECT_THAT(message([&] { monitor.train_step(compute); }), HasSubstr("The loss is not finite."));
  EXPECT_TRUE(at::equal(model->parameters()[0].detach(), before)) << "the optimizer has not stepped";
  EXPECT_EQ(monitor.steps(), 3);
  x[3][1] = 0;
  EXPECT_TRUE(monitor.train_step(compute)) << "it can go on all the same";
  ASSERT_TRUE(monitor.close());
  EXPECT_EQ(kept.marks.front().step, 1) << "what it threw for is in the run";
}

TEST_F(MonitorTellsTest, TakesHistogramsOfWeightsGradientsAndActivations) {
  Kept kept;
  MonitorOptions options = quiet();
  options.sinks.push_back(std::make_unique<KeepingSink>(kept));
  options.statistics_every = 5;
  options.trace_every = 5;
  options.histograms_every = 10;
  Monitor monitor(*model, optimizer, std::move(options));
  const at::Tensor first = model->parameters()[0].detach().clone();
  for (int i = 0; i < 41; ++i) step(monitor);
  ASSERT_TRUE(monitor.close());
  for (const char* name : {"weights/0.weight", "gradients/0.weight", "weights/2.weight", "activations/0 -> relu"}) {
    const auto& taken = kept.histograms[name];
    ASSERT_EQ(taken.size(), 5U) << name;
    std::vector<std::int64_t> steps;
    for (const Histogram& each : taken) steps.push_back(each.step);
    EXPECT_THAT(steps, ElementsAre(0, 10, 20, 30, 40)) << name;
  }
  const Histogram& weights = kept.histograms["weights/0.weight"].front();
  EXPECT_EQ(weights.count, 64);
  EXPECT_FLOAT_EQ(static_cast<float>(weights.max), first.max().item<float>());
  EXPECT_FLOAT_EQ(static_cast<float>(weights.min), first.min().item<float>());
  EXPECT_EQ(kept.histograms["activations/0 -> relu"].front().count, 24 * 16);
  EXPECT_FALSE(kept.histograms.contains("weights/0.bias"));
  EXPECT_NEAR(kept.values["weights/0.weight#mean-abs"].front(), first.abs().mean().item<double>(), 1e-6);
}

TEST_F(MonitorTellsTest, TakesNoHistogramsWhenToldSo) {
  Kept kept;
  MonitorOptions options = quiet();
  options.sinks.push_back(std::make_unique<KeepingSink>(kept));
  options.statistics_every = 1;
  options.trace_every = 1;
  options.histograms_every = -1;
  Monitor monitor(*model, optimizer, std::move(options));
  for (int i = 0; i < 5; ++i) step(monitor);
  ASSERT_TRUE(monitor.close());
  EXPECT_THAT(kept.histograms, IsEmpty());
}

TEST_F(MonitorTellsTest, TellsOfEachLayerHowItIs) {
  MonitorOptions options = quiet();
  options.statistics_every = 1;
  Monitor monitor(*model, optimizer, std::move(options));
  for (int i = 0; i < 60; ++i) step(monitor);
  const LayerTable table = monitor.layers();
  std::vector<std::string> names;
  for (const LayerRow& row : table.rows) {
    EXPECT_EQ(row.status, "ok") << row.layer << ": " << row.why;
    if (row.kind == "weight") names.push_back(row.layer);
  }
  EXPECT_THAT(names, ElementsAre("0.weight", "2.weight"));
  EXPECT_THAT(table.spans, Not(IsEmpty()));
}

/// Twenty-one equal layers beside each other, of which three are ill, each in its own way.
struct Wounded : nn::Module {
  Wounded() {
    for (int i = 0; i < 21; ++i) parts->push_back(nn::Linear(8, 8));
  }
  at::Tensor forward(const at::Tensor& in) {
    at::Tensor total = at::zeros_like(in);
    for (int i = 0; i < 21; ++i) {
      const at::Tensor out = parts[i]->as<nn::Linear>()->forward(in);
      const double scale = i == 5 ? 300 : i == 11 ? 1e-9 : i == 16 ? 0 : 1;
      total = total + scale * out + (1 - scale) * out.detach();  // the value stays, its gradient is scaled
    }
    return head(total / 21);
  }
  nn::ModuleList parts{register_module("parts", nn::ModuleList())};
  nn::Linear head{register_module("head", nn::Linear(8, 3))};
};

TEST_F(MonitorTellsTest, NamesOneExplodingOneSilentAndOneDeadLayerAmongTwenty) {
  Wounded wounded;
  ::torch::optim::SGD slow(wounded.parameters(), 0.01);
  MonitorOptions options = quiet();
  options.statistics_every = 1;
  Monitor monitor(wounded, slow, std::move(options));
  for (int i = 0; i < 120; ++i) {  // labels that say nothing: it does not learn
    slow.zero_grad();
    const at::Tensor loss =
        at::cross_entropy_loss(wounded.forward(at::randn({24, 8})), at::randint(3, {24}, at::kLong));
    loss.backward();
    if (monitor.step(loss)) slow.step();
  }
  std::map<std::string, std::string> ill;
  for (const LayerRow& row : monitor.layers().rows) {
    if (row.kind == "weight" && row.status != "ok") ill[row.layer] = row.status;
  }
  EXPECT_THAT(ill, ElementsAre(testing::Pair("parts.11.weight", "silent"), testing::Pair("parts.16.weight", "dead"),
                               testing::Pair("parts.5.weight", "exploding")));
}

}  // namespace
}  // namespace osler::torch
