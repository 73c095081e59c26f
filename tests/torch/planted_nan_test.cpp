// The origin of a NaN that was planted in networks of many kinds, behind losses of many kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "osler/torch/monitor.h"
#include "osler/torch/origin.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace F = ::torch::nn::functional;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBatch = 6;
constexpr std::int64_t kInputs = 16;
constexpr std::int64_t kWidth = 8;
constexpr std::int64_t kOutputs = 4;

/// A network up to its last hidden layer, with the names that the origin should have there.
struct Body : nn::Module {
  virtual at::Tensor hidden(const at::Tensor& x) = 0;
  std::string first;         // the layer that reads the batch
  std::string hidden_layer;  // the hidden values, as the tracer calls them
};

struct Perceptron : Body {
  Perceptron() { first = "fc1", hidden_layer = "fc1 -> relu"; }
  nn::Linear fc1{register_module("fc1", nn::Linear(kInputs, kWidth))};
  at::Tensor hidden(const at::Tensor& x) override { return at::relu(fc1(x)); }
};

struct Convolutional : Body {
  Convolutional() { first = "conv", hidden_layer = "conv -> bn -> relu"; }
  nn::Conv2d conv{register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, kWidth, 3).padding(1).bias(false)))};
  nn::BatchNorm2d bn{register_module("bn", nn::BatchNorm2d(kWidth))};
  at::Tensor hidden(const at::Tensor& x) override { return at::relu(bn(conv(x.view({kBatch, 1, 4, 4})))).mean({2, 3}); }
};

struct Residual : Body {
  Residual() { first = "stem", hidden_layer = "conv2 -> bn2"; }
  nn::Conv2d stem{register_module("stem", nn::Conv2d(nn::Conv2dOptions(1, kWidth, 3).padding(1)))};
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(nn::Conv2dOptions(kWidth, kWidth, 3).padding(1)))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(nn::Conv2dOptions(kWidth, kWidth, 3).padding(1)))};
  nn::BatchNorm2d bn1{register_module("bn1", nn::BatchNorm2d(kWidth))};
  nn::BatchNorm2d bn2{register_module("bn2", nn::BatchNorm2d(kWidth))};
  at::Tensor hidden(const at::Tensor& x) override {
    const at::Tensor in = stem(x.view({kBatch, 1, 4, 4}));
    return at::relu(bn2(conv2(at::relu(bn1(conv1(in))))) + in).mean({2, 3});
  }
};

struct LongMemory : Body {
  LongMemory() { first = hidden_layer = "lstm"; }
  nn::LSTM lstm{register_module("lstm", nn::LSTM(nn::LSTMOptions(4, kWidth).batch_first(true)))};
  at::Tensor hidden(const at::Tensor& x) override { return std::get<0>(lstm(x.view({kBatch, 4, 4}))).select(1, 3); }
};

struct Gated : Body {
  Gated() { first = hidden_layer = "gru"; }
  nn::GRU gru{register_module("gru", nn::GRU(nn::GRUOptions(4, kWidth).batch_first(true)))};
  at::Tensor hidden(const at::Tensor& x) override { return std::get<0>(gru(x.view({kBatch, 4, 4}))).select(1, 3); }
};

/// With a causal mask of -inf, which is sound and not to be blamed.
struct Attention : Body {
  Attention() {
    first = "query", hidden_layer = "value";
    mask = register_buffer("mask", at::full({4, 4}, -kInf).triu(1));
  }
  nn::Linear query{register_module("query", nn::Linear(4, kWidth))};
  nn::Linear key{register_module("key", nn::Linear(4, kWidth))};
  nn::Linear value{register_module("value", nn::Linear(4, kWidth))};
  nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})))};
  at::Tensor mask;
  at::Tensor hidden(const at::Tensor& x) override {
    const at::Tensor tokens = x.view({kBatch, 4, 4});
    const at::Tensor asks = query(tokens);
    const at::Tensor weights = at::softmax(at::matmul(asks, key(tokens).transpose(1, 2)) + mask, -1);
    return norm(at::matmul(weights, value(tokens))).mean(1);
  }
};

struct Variational : Body {
  Variational() { first = "mean", hidden_layer = "decode -> relu"; }
  nn::Linear mean{register_module("mean", nn::Linear(kInputs, 3))};
  nn::Linear spread{register_module("spread", nn::Linear(kInputs, 3))};
  nn::Linear decode{register_module("decode", nn::Linear(3, kWidth))};
  at::Tensor hidden(const at::Tensor& x) override {
    const at::Tensor center = mean(x);
    return at::relu(decode(center + at::exp(0.5 * spread(x)) * at::randn({kBatch, 3})));
  }
};

struct Embedded : Body {
  Embedded() { first = "project", hidden_layer = "project -> relu"; }
  nn::Embedding words{register_module("words", nn::Embedding(10, kWidth))};
  nn::Linear project{register_module("project", nn::Linear(kInputs, kWidth))};
  at::Tensor hidden(const at::Tensor& x) override {
    const at::Tensor word = words(at::arange(kBatch));
    return at::relu(project(x) + word);
  }
};

struct Network : nn::Module {
  explicit Network(std::shared_ptr<Body> its_body) : body(register_module("body", std::move(its_body))) {}
  std::shared_ptr<Body> body;
  nn::Linear head{register_module("head", nn::Linear(kWidth, kOutputs))};
};

std::shared_ptr<Body> body_of_kind(std::size_t kind) {
  switch (kind % 8) {
    case 0:
      return std::make_shared<Perceptron>();
    case 1:
      return std::make_shared<Convolutional>();
    case 2:
      return std::make_shared<Residual>();
    case 3:
      return std::make_shared<LongMemory>();
    case 4:
      return std::make_shared<Gated>();
    case 5:
      return std::make_shared<Attention>();
    case 6:
      return std::make_shared<Variational>();
    default:
      return std::make_shared<Embedded>();
  }
}

/// A user's own function, sound forward, whose gradient divides by zero.
struct DividesByZeroGoingBack : ::torch::autograd::Function<DividesByZeroGoingBack> {
  static at::Tensor forward(::torch::autograd::AutogradContext* /*context*/, const at::Tensor& x) { return x * 2; }
  static ::torch::autograd::tensor_list backward(::torch::autograd::AutogradContext* /*context*/,
                                                 const ::torch::autograd::tensor_list& gradients) {
    return {(gradients[0].abs() + 1) / at::zeros_like(gradients[0])};
  }
};

/// What is done to the hidden values, and what should be said of it.
struct Plant {
  std::string name;
  std::function<at::Tensor(const at::Tensor&)> act;
  std::string operation;
  OriginCause cause;
  OriginPlace place;
  std::string detail;  // words that must be there
};

const std::vector<Plant>& plants() {
  const auto same = [](const at::Tensor& h) { return h; };
  static const std::vector<Plant> all = {
      {"a NaN in the batch", same, "", OriginCause::corrupt_data, OriginPlace::batch, "not finite"},
      {"an infinite weight", same, "", OriginCause::nonfinite_weight, OriginPlace::weights, "before the step"},
      {"log of zero", [](const at::Tensor& h) { return at::log(h * 0); }, "log", OriginCause::log_of_zero,
       OriginPlace::forward, "logarithm of zero"},
      {"0 / 0", [](const at::Tensor& h) { return (h * 0) / (h * 0); }, "div", OriginCause::division_by_zero,
       OriginPlace::forward, "0 / 0"},
      {"sqrt at zero", [](const at::Tensor& h) { return h + at::sqrt((h - h).square()); }, "sqrt",
       OriginCause::sqrt_at_zero, OriginPlace::backward, "sqrt"},
      {"exp overflows", [](const at::Tensor& h) { return at::exp(h.abs() * 100 + 200); }, "exp",
       OriginCause::exp_overflow, OriginPlace::forward, "exponential"},
      {"acos outside", [](const at::Tensor& h) { return at::acos(h * 0 + 1.001); }, "acos", OriginCause::outside_domain,
       OriginPlace::forward, "outside [-1, 1]"},
      {"atanh at one", [](const at::Tensor& h) { return at::atanh(h * 0 + 1); }, "atanh", OriginCause::outside_domain,
       OriginPlace::forward, "not inside (-1, 1)"},
      {"0 x inf", [](const at::Tensor& h) { return (h * 0) * at::full_like(h, -kInf); }, "mul",
       OriginCause::outside_domain, OriginPlace::forward, "x"},
      {"inf - inf",
       [](const at::Tensor& h) {
         const at::Tensor most = h.masked_fill(at::ones_like(h).to(at::kBool), kInf);
         return most - most;
       },
       "sub", OriginCause::outside_domain, OriginPlace::forward, "inf - inf"},
      {"atan2 at the origin", [](const at::Tensor& h) { return h + at::atan2(h * 0, h * 0); }, "atan2",
       OriginCause::division_by_zero, OriginPlace::backward, "atan2"},
      {"a user's function going back", [](const at::Tensor& h) { return DividesByZeroGoingBack::apply(h); }, "div",
       OriginCause::division_by_zero, OriginPlace::backward, "zero"},
      {"a deviation of one sample", [](const at::Tensor& h) { return h / h.slice(0, 0, 1).std(0, true); }, "std",
       OriginCause::division_by_zero, OriginPlace::forward, "deviation of one sample"},
      {"acos at one going back", [](const at::Tensor& h) { return h + at::acos(h * 0 + 1); }, "acos",
       OriginCause::sqrt_at_zero, OriginPlace::backward, "at -1 and 1"},
  };
  return all;
}

struct Loss {
  std::string name;
  std::function<at::Tensor(const at::Tensor&)> of;
};

const std::vector<Loss>& losses() {
  static const at::Tensor classes = at::arange(kBatch).remainder(kOutputs);
  static const at::Tensor target = at::linspace(-1, 1, kBatch * kOutputs).view({kBatch, kOutputs});
  static const at::Tensor signs = at::ones({kBatch}).index_fill(0, at::arange(3), -1);
  static const at::Tensor all_signs = target.sign();
  static const std::vector<Loss> all = {
      {"cross_entropy", [](const at::Tensor& out) { return F::cross_entropy(out, classes); }},
      {"nll", [](const at::Tensor& out) { return F::nll_loss(F::log_softmax(out, 1), classes); }},
      {"mse", [](const at::Tensor& out) { return F::mse_loss(out, target); }},
      {"l1", [](const at::Tensor& out) { return F::l1_loss(out, target); }},
      {"smooth_l1", [](const at::Tensor& out) { return F::smooth_l1_loss(out, target); }},
      {"huber", [](const at::Tensor& out) { return F::huber_loss(out, target); }},
      {"bce_with_logits",
       [](const at::Tensor& out) { return F::binary_cross_entropy_with_logits(out, (target > 0).to(at::kFloat)); }},
      {"kl_div", [](const at::Tensor& out) { return F::kl_div(F::log_softmax(out, 1), at::softmax(target, 1)); }},
      {"poisson_nll", [](const at::Tensor& out) { return F::poisson_nll_loss(out, target.abs()); }},
      {"cosine_embedding", [](const at::Tensor& out) { return F::cosine_embedding_loss(out, target, signs); }},
      {"log_cosh", [](const at::Tensor& out) { return at::log(at::cosh(out - target)).mean(); }},
      {"soft_margin", [](const at::Tensor& out) { return F::soft_margin_loss(out, all_signs); }},
      {"triplet", [](const at::Tensor& out) { return F::triplet_margin_loss(out, target, target.flip(0)); }},
      {"multilabel_soft_margin",
       [](const at::Tensor& out) { return F::multilabel_soft_margin_loss(out, (target > 0).to(at::kFloat)); }},
      {"mse summed", [](const at::Tensor& out) { return at::mse_loss(out, target, at::Reduction::Sum); }},
      {"by hand", [](const at::Tensor& out) { return (out - target).square().mean(); }},
  };
  return all;
}

/// One training step with a fault in it.
struct Case {
  const Plant& plant;
  const Loss& loss;
  Network network;
  at::Tensor x = at::randn({kBatch, kInputs});

  Case(const Plant& its_plant, const Loss& its_loss, std::size_t kind)
      : plant(its_plant), loss(its_loss), network(body_of_kind(kind)) {
    if (plant.place == OriginPlace::batch) x[1][2] = std::numeric_limits<float>::quiet_NaN();
    const at::NoGradGuard no_graph;
    if (plant.place == OriginPlace::weights) network.head->weight[1][3] = kInf;
  }
  at::Tensor compute() { return loss.of(network.head(plant.act(network.body->hidden(x)))); }
  [[nodiscard]] std::string wrong_about(const NonfiniteOrigin& origin) const {
    const bool inside = plant.place == OriginPlace::forward || plant.place == OriginPlace::backward;
    std::string wrong;
    if (origin.cause != plant.cause) wrong += " cause";
    if (origin.place != plant.place) wrong += " place";
    if (inside && origin.operation != plant.operation) wrong += " operation";
    const std::string layer = plant.place == OriginPlace::batch     ? "body." + network.body->first
                              : plant.place == OriginPlace::weights ? "head"
                                                                    : "body." + first_part(network.body->hidden_layer);
    if (!origin.layer.starts_with(layer)) wrong += " layer (expected " + layer + ")";
    if (describe(origin).find(plant.detail) == std::string::npos) wrong += " reason";
    const std::vector<std::int64_t> place = {1, 2};
    if (plant.place == OriginPlace::batch && (origin.offenders.empty() || origin.offenders.front().index != place)) {
      wrong += " index";
    }
    return wrong.empty() ? "" : "wrong:" + wrong + ": " + describe(origin);
  }
  static std::string first_part(const std::string& layer) { return layer.substr(0, layer.find(' ')); }
};

/// Calls `act` with every plant behind every loss, in networks of all kinds in turn.
template <typename Act>
void for_each_case(Act act) {
  std::size_t kind = 0;
  for (const Plant& plant : plants()) {
    for (const Loss& loss : losses()) {
      ::torch::manual_seed(3);
      Case planted(plant, loss, kind);
      SCOPED_TRACE(plant.name + ", " + loss.name + ", network " + std::to_string(kind % 8));
      act(planted);
      ++kind;
    }
    ++kind;  // so that a plant meets other pairs of network and loss than the one before
  }
}

TEST(PlantedNan, IsTracedToItsOperationLayerAndReasonBehindEveryLoss) {
  int cases = 0;
  for_each_case([&](Case& planted) {
    ++cases;
    const auto origin = trace_origin(planted.network, [&] { return planted.compute(); });
    ASSERT_TRUE(origin) << "nothing was found";
    EXPECT_EQ(planted.wrong_about(*origin), "");
  });
  EXPECT_EQ(cases, 14 * 16);
}

TEST(PlantedNan, IsPlacedRoughlyByStepAloneWhichSaysHowToLearnMore) {
  for_each_case([&](Case& planted) {
    ::torch::optim::SGD optimizer(planted.network.parameters(), 0.01);
    MonitorOptions options;
    std::string line;
    options.on_line = [&](const std::string& text) { line = text; };
    Monitor monitor(planted.network, optimizer, std::move(options));
    monitor.batch(planted.x);
    const at::Tensor loss = planted.compute();
    loss.backward();
    EXPECT_FALSE(monitor.step(loss));
    ASSERT_TRUE(monitor.origin());
    EXPECT_EQ(to_string(monitor.origin()->place), to_string(planted.plant.place)) << line;
    EXPECT_THAT(line, testing::HasSubstr("replay_with()"));
  });
}

TEST(PlantedNan, IsNamedByTheNextStepThatBreaksWhereNobodyToldHowToReplay) {
  Case planted(plants()[2], losses()[0], 0);
  ::torch::optim::SGD optimizer(planted.network.parameters(), 0.01);
  Monitor monitor(planted.network, optimizer);
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    const at::Tensor loss = planted.compute();
    loss.backward();
    EXPECT_FALSE(monitor.step(loss));
  }
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(planted.wrong_about(*monitor.origin()), "");
}

}  // namespace
}  // namespace osler::torch
