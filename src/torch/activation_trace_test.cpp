// What the tracer sees of real models: names, statistics, illnesses.
#include "torch/activation_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "osler/torch/tap.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using testing::ElementsAre;
using testing::IsSupersetOf;

std::vector<std::string> layers_of(const ActivationTrace& trace) {
  std::vector<std::string> layers;
  for (const Activation& activation : trace.activations()) layers.push_back(activation.layer);
  return layers;
}

const Activation* find(const ActivationTrace& trace, const std::string& layer) {
  for (const Activation& activation : trace.activations()) {
    if (activation.layer == layer) return &activation;
  }
  return nullptr;
}

struct ConvNet : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)))};
  nn::BatchNorm2d bn1{register_module("bn1", nn::BatchNorm2d(4))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(nn::Conv2dOptions(4, 4, 3).padding(1)))};
  nn::Linear head{register_module("head", nn::Linear(4 * 8 * 8, 10))};
  at::Tensor forward(at::Tensor x) {
    x = at::relu(bn1(conv1(x)));
    x = x + at::relu(conv2(x));
    return head(x.flatten(1));
  }
};

struct Attention : nn::Module {
  nn::Embedding table{register_module("table", nn::Embedding(20, 8))};
  nn::Linear query{register_module("query", nn::Linear(8, 8))};
  nn::Linear key{register_module("key", nn::Linear(8, 8))};
  nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({8})))};
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = norm(table(tokens));
    const at::Tensor q = query(x);
    const at::Tensor k = key(x);
    const at::Tensor weights = at::softmax(at::matmul(q, k.transpose(1, 2)), -1);
    return at::matmul(weights, x);
  }
};

TEST(ActivationTraceTest, NamesLayersByTheModelsOwnParameters) {
  ConvNet net;
  ActivationTrace trace(net);
  {
    const Watch watch(trace);
    at::cross_entropy_loss(net.forward(at::randn({6, 1, 8, 8})), at::arange(6)).backward();
  }
  EXPECT_THAT(layers_of(trace), ElementsAre("conv1", "conv1 -> bn1", "conv1 -> bn1 -> relu", "conv2", "conv2 -> relu",
                                            "head", "head -> log_softmax"));
  ASSERT_TRUE(trace.logits());
  EXPECT_EQ(trace.logits()->layer, "head");
}

TEST(ActivationTraceTest, SeesEmbeddingAttentionAndNormalisation) {
  Attention net;
  ActivationTrace trace(net);
  {
    const Watch watch(trace);
    net.forward(at::randint(0, 20, {3, 5}));
  }
  EXPECT_THAT(layers_of(trace), IsSupersetOf({"table", "table -> norm", "query", "key", "key -> softmax"}));
  const Activation* weights = find(trace, "key -> softmax");
  ASSERT_NE(weights, nullptr);
  ASSERT_TRUE(weights->entropy);
  EXPECT_GT(*weights->entropy, 0.3);
  EXPECT_LE(*weights->entropy, 1.0001);
}

TEST(ActivationTraceTest, SeesARecurrentLayerAsOne) {
  struct Net : nn::Module {
    nn::LSTM lstm{register_module("lstm", nn::LSTM(nn::LSTMOptions(3, 7).num_layers(2)))};
    nn::Linear out{register_module("out", nn::Linear(7, 1))};
  } net;
  ActivationTrace trace(net);
  {
    const Watch watch(trace);
    at::tanh(net.out(std::get<0>(net.lstm(at::randn({4, 2, 3})))));
  }
  EXPECT_THAT(layers_of(trace), ElementsAre("lstm", "out", "out -> tanh"));
}

TEST(ActivationTraceTest, CountsDeadUnitsAndSaturation) {
  nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 6), nn::Sigmoid());
  {
    const at::NoGradGuard no_graph;
    net[0]->as<nn::Linear>()->bias.slice(0, 0, 3).fill_(-1000);
    net[2]->as<nn::Linear>()->bias.slice(0, 0, 3).fill_(1000);
  }
  ActivationTrace trace(*net);
  {
    const Watch watch(trace);
    net->forward(at::randn({32, 4}));
  }
  const Activation* relu = find(trace, "0 -> relu");
  ASSERT_NE(relu, nullptr);
  ASSERT_TRUE(relu->units);
  EXPECT_GE(relu->units->silent(), 3U);
  const Activation* sigmoid = find(trace, "2 -> sigmoid");
  ASSERT_NE(sigmoid, nullptr);
  ASSERT_TRUE(sigmoid->saturated);
  EXPECT_GE(*sigmoid->saturated, 0.5);
}

TEST(ActivationTraceTest, SeesWhenAllSamplesBecomeTheSame) {
  nn::Linear layer(4, 8);
  {
    const at::NoGradGuard no_graph;
    layer->weight.mul_(1e-9);
  }
  ActivationTrace trace(*layer);
  {
    const Watch watch(trace);
    layer->forward(at::randn({16, 4}));
  }
  ASSERT_FALSE(trace.activations().empty());
  ASSERT_TRUE(trace.activations().front().rows);
  EXPECT_LT(trace.activations().front().rows->spread, 1e-6);
}

TEST(ActivationTraceTest, ComparesRunningStatisticsWithTheBatch) {
  nn::BatchNorm1d norm(4);
  ActivationTrace trace(*norm);
  {
    const Watch watch(trace);
    norm->forward(at::randn({64, 4}) + 50);
  }
  ASSERT_EQ(trace.activations().size(), 1U);
  ASSERT_TRUE(trace.activations().front().drift);
  EXPECT_GT(*trace.activations().front().drift, 10);
}

TEST(ActivationTraceTest, MeasuresWhatIsTapped) {
  nn::Linear layer(4, 8);
  ActivationTrace trace(*layer);
  {
    const Watch watch(trace);
    const at::Tensor pooled = tap("pooled", at::randn({3, 5}) * 7);
    at::relu(pooled);
  }
  EXPECT_THAT(layers_of(trace), ElementsAre("pooled", "pooled -> relu"));
  const at::Tensor untouched = at::ones({2});
  EXPECT_TRUE(tap("nobody looks", untouched).is_same(untouched));
}

TEST(ActivationTraceTest, PassesOverAValidationWhereItFollowsATraining) {
  nn::Sequential net(nn::Linear(3, 2));
  const auto largest = [&](Passes passes) {
    ActivationTrace trace(*net, passes);
    const Watch watch(trace);
    (void)tap("own", net->forward(at::ones({4, 3})));
    const at::NoGradGuard validation;
    (void)tap("own", net->forward(at::full({4, 3}, 1e6)));
    return std::pair(find(trace, "0")->stats.abs_max(), find(trace, "own")->stats.abs_max());
  };
  const auto [training, tapped] = largest(Passes::training);
  EXPECT_LT(training, 1e3);
  EXPECT_LT(tapped, 1e3);
  EXPECT_GT(largest(Passes::every).first, 1e3);
  EXPECT_GT(largest(Passes::every).second, 1e3);
}

TEST(ActivationTraceTest, ChangesNothing) {
  const auto train = [](bool traced) {
    ::torch::manual_seed(5);
    nn::Sequential net(nn::Linear(4, 16), nn::ReLU(), nn::Dropout(0.5), nn::Linear(16, 3));
    ::torch::optim::SGD optimizer(net->parameters(), 0.1);
    ActivationTrace trace(*net);
    for (int step = 0; step < 20; ++step) {
      const at::Tensor x = at::randn({8, 4});
      optimizer.zero_grad();
      std::optional<Watch> watch;
      if (traced) watch.emplace(trace);
      at::cross_entropy_loss(net->forward(x), at::randint(0, 3, {8})).backward();
      watch.reset();
      optimizer.step();
    }
    return ::torch::nn::utils::parameters_to_vector(net->parameters());
  };
  EXPECT_TRUE(at::equal(train(false), train(true)));
}

}  // namespace
}  // namespace osler::torch
