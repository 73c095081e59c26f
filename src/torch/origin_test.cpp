// The origin of NaN on planted faults, in and behind layers of every kind, forward and backward.
#include "osler/torch/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/test_seed.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A model of two layers with a custom head, whose loss each test makes sick in its own way.
struct Net : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(4, 8))};
  nn::Linear fc2{register_module("fc2", nn::Linear(8, 3))};
  at::Tensor hidden(const at::Tensor& x) { return at::relu(fc1(x)); }
  at::Tensor forward(const at::Tensor& x) { return fc2(hidden(x)); }
};

struct OriginTest : TestSeed, testing::Test {
  OriginTest() : TestSeed(3) {}
  Net net;
  at::Tensor x = at::randn({6, 4});
  at::Tensor y = at::arange(6).remainder(3);

  NonfiniteOrigin traced(const std::function<at::Tensor()>& loss) { return traced(net, loss); }
  static NonfiniteOrigin traced(nn::Module& model, const std::function<at::Tensor()>& loss) {
    const auto origin = trace_origin(model, loss);
    EXPECT_TRUE(origin) << "nothing was found";
    return origin.value_or(NonfiniteOrigin{});
  }
};

TEST_F(OriginTest, NothingIsFoundInAHealthyStep) {
  EXPECT_FALSE(trace_origin(net, [&] { return at::cross_entropy_loss(net.forward(x), y); }));
}

TEST_F(OriginTest, LogOfZeroInACustomLoss) {
  const auto origin = traced([&] {
    const at::Tensor p = at::softmax(net.forward(x), 1).masked_fill(at::eye(3).slice(0, 0, 1).to(at::kBool), 0);
    return -at::log(p).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::log_of_zero) << describe(origin);
  EXPECT_EQ(origin.operation, "log");
  EXPECT_EQ(origin.layer, "fc2 -> softmax");
  EXPECT_FALSE(origin.backward);
  ASSERT_FALSE(origin.offenders.empty());
  EXPECT_EQ(origin.offenders.front().index, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(origin.offenders.front().inputs, std::vector<double>{0});
  EXPECT_EQ(origin.outputs.front().inf_count, 6U);
}

TEST_F(OriginTest, DivisionByZero) {
  const auto origin = traced([&] {
    const at::Tensor h = net.hidden(x);
    const at::Tensor zero = h.sum(1, true) * 0;
    return net.fc2(h / zero).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::division_by_zero) << describe(origin);
  EXPECT_EQ(origin.operation, "div");
  EXPECT_EQ(origin.layer, "fc1 -> relu");
}

TEST_F(OriginTest, SqrtAtZeroShowsInTheBackwardPassOnly) {
  const auto origin = traced([&] {
    const at::Tensor distance = net.forward(x) - net.forward(x);
    return (net.forward(x).square().mean() + at::sqrt(distance * distance).mean());
  });
  EXPECT_EQ(origin.cause, OriginCause::sqrt_at_zero) << describe(origin);
  EXPECT_EQ(origin.operation, "sqrt");
  EXPECT_TRUE(origin.backward);
  EXPECT_EQ(origin.layer, "fc2");
}

TEST_F(OriginTest, SqrtOfANegativeNumber) {
  const auto origin = traced([&] { return at::sqrt(-net.forward(x).square() - 1).mean(); });
  EXPECT_EQ(origin.cause, OriginCause::sqrt_at_zero) << describe(origin);
  EXPECT_FALSE(origin.backward);
}

TEST_F(OriginTest, ExponentialOverflowInANaiveSoftmax) {
  const auto origin = traced([&] {
    const at::Tensor e = at::exp(net.forward(x) * 10000);
    return (e / e.sum(1, true)).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::exp_overflow) << describe(origin);
  EXPECT_EQ(origin.operation, "exp");
  EXPECT_EQ(origin.layer, "fc2");
}

TEST_F(OriginTest, HalfPrecisionOverflow) {
  const auto origin =
      traced([&] { return ((net.forward(x) + 30000) * 3).to(at::kHalf).to(at::kFloat).square().mean(); });
  EXPECT_EQ(origin.cause, OriginCause::fp16_overflow) << describe(origin);
  EXPECT_EQ(origin.layer, "fc2");
}

TEST_F(OriginTest, ExplodingActivationsInAConvolution) {
  struct Convs : nn::Module {
    nn::Conv2d first{register_module("first", nn::Conv2d(1, 2, 3))};
    nn::Conv2d second{register_module("second", nn::Conv2d(2, 2, 3))};
  } convs;
  {
    const at::NoGradGuard no_graph;
    convs.first->weight.mul_(1e20);
    convs.second->weight.mul_(1e20);
  }
  const at::Tensor images = at::randn({2, 1, 8, 8});
  const auto origin = traced(convs, [&] { return convs.second(at::relu(convs.first(images))).mean(); });
  EXPECT_EQ(origin.cause, OriginCause::exploding_signal) << describe(origin);
  EXPECT_THAT(origin.layer, testing::AnyOf("second", "first -> relu"));
  EXPECT_EQ(origin.inside, "conv2d");
}

TEST_F(OriginTest, ExplodingGradientsInTheBackwardPass) {
  {
    const at::NoGradGuard no_graph;
    net.fc1->weight.mul_(1e-30);
    net.fc1->bias.zero_();
    net.fc2->weight.fill_(1e30);
    net.fc2->bias.zero_();
  }
  const auto origin = traced([&] { return (net.forward(x.abs()) * 1e9 + 1).mean() * 1e10; });
  EXPECT_EQ(origin.cause, OriginCause::exploding_signal) << describe(origin);
  EXPECT_TRUE(origin.backward);
}

TEST_F(OriginTest, BadInputData) {
  x[2][1] = kNan;
  const auto origin = traced([&] { return at::cross_entropy_loss(net.forward(x), y); });
  EXPECT_EQ(origin.cause, OriginCause::corrupt_data) << describe(origin);
  EXPECT_EQ(origin.layer, "fc1");
  ASSERT_FALSE(origin.offenders.empty());
  EXPECT_EQ(origin.offenders.front().index, (std::vector<std::int64_t>{2, 1}));
}

TEST_F(OriginTest, WeightsThatWereBrokenBefore) {
  {
    const at::NoGradGuard no_graph;
    net.fc2->weight[1][1] = kInf;
  }
  const auto origin = traced([&] { return at::cross_entropy_loss(net.forward(x), y); });
  EXPECT_EQ(origin.cause, OriginCause::nonfinite_weight) << describe(origin);
  EXPECT_EQ(origin.inputs.front().name, "fc2.weight");
  const std::vector<NonfiniteTensor> found = find_nonfinite(net);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().name, "fc2.weight");
  EXPECT_EQ(found.front().first, (std::vector<std::int64_t>{1, 1}));
}

TEST_F(OriginTest, InPlaceChangeOfAWeight) {
  const at::Tensor before = net.fc1->weight.detach().clone();
  const auto origin = traced([&] {
    at::Tensor weight = net.fc1->weight.detach();
    weight.div_(0.0);
    return net.forward(x).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::in_place_modification) << describe(origin);
  EXPECT_EQ(origin.operation, "div");
}

TEST_F(OriginTest, InPlaceChangeBehindAutogradsBack) {
  const auto origin = traced([&] {
    at::Tensor p = at::softmax(net.forward(x), 1);
    const at::Tensor loss = -at::log(p).mean();
    p.data().zero_();
    return loss;
  });
  EXPECT_EQ(origin.cause, OriginCause::in_place_modification) << describe(origin);
  EXPECT_EQ(origin.operation, "log");
  EXPECT_TRUE(origin.backward);
}

TEST_F(OriginTest, InPlaceChangeThatAutogradRefuses) {
  const auto origin = traced([&] {
    at::Tensor p = at::softmax(net.forward(x), 1);
    const at::Tensor loss = -at::log(p).mean();
    p.detach().mul_(2);
    return loss;
  });
  EXPECT_EQ(origin.cause, OriginCause::in_place_modification) << describe(origin);
  EXPECT_EQ(origin.operation, "mul");
  EXPECT_EQ(origin.layer, "fc2 -> softmax");
}

TEST_F(OriginTest, AttentionRowThatIsFullyMasked) {
  struct Attention : nn::Module {
    nn::Linear query{register_module("query", nn::Linear(4, 4))};
    nn::Linear key{register_module("key", nn::Linear(4, 4))};
  } attention;
  const at::Tensor tokens = at::randn({2, 5, 4});
  at::Tensor mask = at::ones({5, 5}).triu(1).to(at::kBool);
  mask[3].fill_(true);
  const auto origin = traced(attention, [&] {
    const at::Tensor query = attention.query(tokens);
    const at::Tensor key = attention.key(tokens);
    const at::Tensor scores = at::matmul(query, key.transpose(1, 2));
    return at::matmul(at::softmax(scores.masked_fill(mask, -kInf), -1), tokens).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::division_by_zero) << describe(origin);
  EXPECT_EQ(origin.operation, "softmax");
  EXPECT_EQ(origin.layer, "key");
}

TEST_F(OriginTest, ACausalMaskIsNoFault) {
  const at::Tensor mask = at::ones({6, 6}).triu(1).to(at::kBool);
  EXPECT_FALSE(trace_origin(net, [&] {
    const at::Tensor h = net.hidden(x);
    return at::softmax(at::matmul(h, h.t()).masked_fill(mask, -kInf), -1).square().mean();
  }));
}

TEST_F(OriginTest, AnInfinityThatIsSelectedAwayIsNotBlamed) {
  const auto origin = traced([&] {
    const at::Tensor out = net.forward(x);
    const at::Tensor harmless = at::where(at::zeros_like(out).to(at::kBool), at::log(out.detach() * 0), out);
    return at::exp(harmless * 1e6).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::exp_overflow) << describe(origin);
}

TEST_F(OriginTest, InsideALongShortTermMemory) {
  struct Memory : nn::Module {
    nn::LSTM lstm{register_module("lstm", nn::LSTM(3, 5))};
    nn::Linear out{register_module("out", nn::Linear(5, 2))};
  } memory;
  const at::Tensor sequence = at::randn({7, 2, 3});
  const auto origin = traced(memory, [&] {
    const at::Tensor last = std::get<0>(memory.lstm(sequence))[6];
    return at::log(at::relu(memory.out(last)) * 0).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::log_of_zero) << describe(origin);
  EXPECT_EQ(origin.layer, "out -> relu");
}

TEST_F(OriginTest, ExplodingStateOfARecurrentLayer) {
  struct Memory : nn::Module {
    nn::RNN rnn{register_module("rnn", nn::RNN(nn::RNNOptions(3, 5).nonlinearity(::torch::kReLU)))};
  } memory;
  {
    const at::NoGradGuard no_graph;
    memory.rnn->named_parameters()["weight_hh_l0"].abs_().mul_(1e18);
  }
  const at::Tensor sequence = at::rand({7, 2, 3}) + 1;
  const auto origin = traced(memory, [&] { return std::get<0>(memory.rnn(sequence)).mean(); });
  EXPECT_EQ(origin.cause, OriginCause::exploding_signal) << describe(origin);
  EXPECT_THAT(origin.layer, testing::StartsWith("rnn"));
  EXPECT_EQ(origin.inside, "rnn_relu");
}

TEST_F(OriginTest, LossOverTargetsThatAreAllIgnored) {
  const auto origin = traced([&] {
    return ::torch::nn::functional::cross_entropy(net.forward(x), at::full({6}, -100, at::kLong),
                                                  nn::functional::CrossEntropyFuncOptions().ignore_index(-100));
  });
  EXPECT_EQ(origin.cause, OriginCause::division_by_zero) << describe(origin);
}

TEST_F(OriginTest, DeviationOfOneSample) {
  const auto origin = traced([&] {
    const at::Tensor h = net.hidden(x.slice(0, 0, 1));
    return (h / h.std(0, true)).mean();
  });
  EXPECT_EQ(origin.cause, OriginCause::division_by_zero) << describe(origin);
  EXPECT_EQ(origin.operation, "std");
  EXPECT_EQ(origin.layer, "fc1 -> relu");
}

TEST_F(OriginTest, LeavesRandomNumbersBuffersAndGradientsAsTheyWere) {
  nn::Sequential model(nn::Linear(4, 8), nn::BatchNorm1d(8), nn::Dropout(0.5), nn::Linear(8, 1));
  model->forward(x).mean().backward();
  const at::Tensor gradient = model->parameters()[0].grad().clone();
  const at::Tensor running = model->buffers()[0].clone();
  ::torch::manual_seed(9);
  const at::Tensor expected = at::rand({3});
  ::torch::manual_seed(9);
  const auto origin = traced(*model, [&] { return at::log(model->forward(x) * 0).mean(); });
  EXPECT_EQ(origin.cause, OriginCause::log_of_zero);
  EXPECT_TRUE(at::equal(at::rand({3}), expected));
  EXPECT_TRUE(at::equal(model->buffers()[0], running));
  EXPECT_TRUE(at::equal(model->parameters()[0].grad(), gradient));
}

}  // namespace
}  // namespace osler::torch
