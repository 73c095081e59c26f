// Losses that take turns and networks that play against each other: noticed by the monitor, and nothing else is
// mistaken for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "osler/recorder/sink.h"
#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace F = ::torch::nn::functional;
using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using Configuration = std::map<std::string, std::string>;

class ConfigurationSink final : public Sink {
 public:
  explicit ConfigurationSink(Configuration& kept) : kept_(kept) {}
  std::string name() const override { return "memory"; }
  Result<void> write(const RecordBatch& batch) override {
    for (const auto& [key, value] : batch.config) kept_[key] = value;
    return {};
  }
  Result<void> close() override { return {}; }

 private:
  Configuration& kept_;
};

constexpr std::int64_t kBatch = 24;
constexpr int kSteps = 60;
const auto kLossesInTurn = Contains(Pair("osler.losses", "in turns"));
const auto kInTurns = Contains(Pair("osler.networks", "trained in turns"));

struct TurnsTest : testing::Test {
  TurnsTest() { ::torch::manual_seed(3); }

  static MonitorOptions kept_in(Configuration& kept) {
    MonitorOptions options;
    options.sinks.push_back(std::make_unique<ConfigurationSink>(kept));
    return options;
  }
  static nn::Sequential network(std::int64_t inputs, std::int64_t outputs) {
    return nn::Sequential(nn::Linear(inputs, 16), nn::ReLU(), nn::Linear(16, outputs));
  }
  static at::Tensor drawn(std::int64_t count) { return at::randn({kBatch, count}); }

  /// One network trained on the loss that is made of its outputs at each step.
  Configuration trained_on(const std::function<at::Tensor(const at::Tensor& out, int step)>& loss_of) {
    Configuration kept;
    nn::Sequential net = network(6, 5);
    ::torch::optim::Adam optimizer(net->parameters(), 2e-3);
    Monitor monitor(*net, optimizer, kept_in(kept));
    for (int i = 0; i < kSteps; ++i) {
      optimizer.zero_grad();
      const at::Tensor loss = loss_of(net->forward(drawn(6)), i);
      loss.backward();
      if (monitor.step(loss)) optimizer.step();
    }
    EXPECT_TRUE(monitor.close());
    return kept;
  }
};

at::Tensor of_classes(const at::Tensor& out) {
  return F::cross_entropy(out.slice(1, 0, 4), at::arange(kBatch).remainder(4));
}
at::Tensor of_a_number(const at::Tensor& out) {
  return F::mse_loss(out.select(1, 4), at::ones({kBatch}));
}

TEST_F(TurnsTest, TasksInTurnHaveLossesInTurn) {
  EXPECT_THAT(
      trained_on([](const at::Tensor& out, int step) { return step % 2 == 0 ? of_classes(out) : of_a_number(out); }),
      kLossesInTurn);
}

TEST_F(TurnsTest, ATaskInEachThirdStepHasThemToo) {
  EXPECT_THAT(
      trained_on([](const at::Tensor& out, int step) { return step % 3 == 0 ? of_a_number(out) : of_classes(out); }),
      kLossesInTurn);
}

TEST_F(TurnsTest, OneLossAndASumOfTwoHaveNoTurns) {
  EXPECT_THAT(trained_on([](const at::Tensor& out, int) { return of_classes(out); }),
              Not(Contains(Key("osler.losses"))));
  EXPECT_THAT(trained_on([](const at::Tensor& out, int) { return of_classes(out) + 0.1 * of_a_number(out); }),
              Not(Contains(Key("osler.losses"))));
}

TEST_F(TurnsTest, ALossThatChangesOnceOrSeldomHasNone) {
  EXPECT_THAT(
      trained_on([](const at::Tensor& out, int step) { return step < 30 ? of_classes(out) : of_a_number(out); }),
      Not(Contains(Key("osler.losses"))));
}

struct TwoHeads : nn::Module {
  nn::Linear body{register_module("body", nn::Linear(6, 8))};
  nn::Linear one{register_module("one", nn::Linear(8, 2))};
  nn::Linear other{register_module("other", nn::Linear(8, 2))};
};

TEST_F(TurnsTest, AHeadForEachTaskIsKnownByItsParameters) {
  Configuration kept;
  TwoHeads net;
  ::torch::optim::Adam optimizer(net.parameters(), 2e-3);
  Monitor monitor(net, optimizer, kept_in(kept));
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = drawn(6);
    monitor.train_step([&] {
      const at::Tensor h = at::relu(net.body(x));
      return F::mse_loss(i % 2 == 0 ? net.one(h) : net.other(h), at::ones({kBatch, 2}));
    });
  }
  EXPECT_TRUE(monitor.close());
  EXPECT_THAT(kept, kLossesInTurn);
}

TEST_F(TurnsTest, AGeneratorAndItsCriticPlay) {
  for (const int critic_steps : {1, 3}) {
    Configuration of_generator;
    Configuration of_critic;
    nn::Sequential generator = network(4, 6);
    nn::Sequential critic = network(6, 1);
    ::torch::optim::Adam makes(generator->parameters(), 1e-3);
    ::torch::optim::Adam judges(critic->parameters(), 1e-3);
    Monitor generators(*generator, makes, kept_in(of_generator));
    Monitor critics(*critic, judges, kept_in(of_critic));
    const auto believed = [&](const at::Tensor& x, double as) {
      return F::binary_cross_entropy_with_logits(critic->forward(x), at::full({kBatch, 1}, as));
    };
    for (int i = 0; i < kSteps; ++i) {
      for (int k = 0; k < critic_steps; ++k) {
        const at::Tensor made = generator->forward(drawn(4)).detach();
        const at::Tensor real = drawn(6) + 1;
        critics.train_step([&] { return believed(real, 1) + believed(made, 0); });
      }
      const at::Tensor seeds = drawn(4);
      generators.train_step([&] { return believed(generator->forward(seeds), 1); });
    }
    EXPECT_TRUE(generators.close());
    EXPECT_TRUE(critics.close());
    EXPECT_THAT(of_generator, kInTurns);
    EXPECT_THAT(of_critic, kInTurns);
  }
}

TEST_F(TurnsTest, NetworksTrainedOnOneLossDoNotPlay) {
  Configuration of_encoder;
  Configuration of_decoder;
  nn::Sequential encoder = network(6, 3);
  nn::Sequential decoder = network(3, 6);
  ::torch::optim::Adam first(encoder->parameters(), 1e-3);
  ::torch::optim::Adam second(decoder->parameters(), 1e-3);
  Monitor encoders(*encoder, first, kept_in(of_encoder));
  Monitor decoders(*decoder, second, kept_in(of_decoder));
  for (int i = 0; i < kSteps; ++i) {
    first.zero_grad();
    second.zero_grad();
    const at::Tensor x = drawn(6);
    const at::Tensor loss = F::mse_loss(decoder->forward(encoder->forward(x)), x);
    loss.backward();
    if (encoders.step(loss)) first.step();
    if (decoders.step(loss)) second.step();
  }
  EXPECT_TRUE(encoders.close());
  EXPECT_TRUE(decoders.close());
  EXPECT_THAT(of_encoder, Not(Contains(Key("osler.networks"))));
  EXPECT_THAT(of_decoder, Not(Contains(Key("osler.networks"))));
}

TEST_F(TurnsTest, NetworksBesideEachOtherDoNotPlayNorDoesAStudentWithItsTeacher) {
  Configuration of_one;
  Configuration of_other;
  nn::Sequential one = network(6, 2);
  nn::Sequential other = network(6, 2);
  ::torch::optim::Adam trains_one(one->parameters(), 1e-3);
  ::torch::optim::Adam trains_other(other->parameters(), 1e-3);
  Monitor ones(*one, trains_one, kept_in(of_one));
  Monitor others(*other, trains_other, kept_in(of_other));
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = drawn(6);
    ones.train_step([&] { return F::mse_loss(one->forward(x), x.slice(1, 0, 2)); });
    const at::Tensor said = one->forward(x).detach();
    others.train_step([&] { return F::mse_loss(other->forward(x), said); });
  }
  EXPECT_TRUE(ones.close());
  EXPECT_TRUE(others.close());
  EXPECT_THAT(of_one, Not(Contains(Key("osler.networks"))));
  EXPECT_THAT(of_other, Not(Contains(Key("osler.networks"))));
}

}  // namespace
}  // namespace osler::torch
