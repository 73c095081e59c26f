// NaNs of many origins in programs of many kinds, each after some sound steps: the operation, the layer and the reason
// are named by a whole step, and the rough place by a plain one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <iostream>

#include "documented.h"
#include "trial_run.h"

namespace osler::torch::trial {
namespace {

using Make = Program (*)();
using Change = std::function<at::Tensor(const at::Tensor&)>;
using LossOf = std::function<at::Tensor(const at::Tensor& output, const at::Tensor& target)>;
using Cause = OriginCause;
using Place = OriginPlace;
constexpr int kSoundSteps = 4;

/// Something that goes wrong, and what should be said of it.
struct Origin {
  std::string name;
  Make program;
  std::function<void(Program&)> plant;  // before the step that breaks
  std::string operation;                // empty: what reads the batch or the weight, whichever it is
  std::string layer;                    // how its name begins
  Cause cause;
  Place place = Place::forward;
};

std::function<void(Program&)> hidden(std::string place, Change change) {
  return [=](Program& program) { program.net->planted[place] = change; };
}
std::function<void(Program&)> loss(LossOf loss_of) {
  return [=](Program& program) { program.loss = loss_of; };
}
std::function<void(Program&)> batch(std::function<void(Sample&)> spoil) {
  return [=](Program& program) {
    program.draw = [=, draw = program.draw] {
      Sample drawn = draw();
      spoil(drawn);
      return drawn;
    };
  };
}
std::function<void(Program&)> weight(std::string name, std::function<void(at::Tensor)> spoil) {
  return [=](Program& program) { spoil(program.net->named_parameters()[name].detach()); };
}

/// Sound forwards; its gradient is a logarithm of zero.
struct LogarithmGoingBack : ::torch::autograd::Function<LogarithmGoingBack> {
  static at::Tensor forward(::torch::autograd::AutogradContext* /*context*/, const at::Tensor& x) { return x.clone(); }
  static ::torch::autograd::tensor_list backward(::torch::autograd::AutogradContext* /*context*/,
                                                 const ::torch::autograd::tensor_list& gradients) {
    return {at::log(gradients[0] * 0)};
  }
};

/// A user's own operation that divides by zero on the way forward.
struct DividesForward : ::torch::autograd::Function<DividesForward> {
  static at::Tensor forward(::torch::autograd::AutogradContext* /*context*/, const at::Tensor& x) {
    return x / (x - x);
  }
  static ::torch::autograd::tensor_list backward(::torch::autograd::AutogradContext* /*context*/,
                                                 const ::torch::autograd::tensor_list& gradients) {
    return {gradients[0]};
  }
};

/// Logarithms.
std::vector<Origin> logarithms() {
  return {
      {"likelihood of a probability of zero", perceptron, loss([](const at::Tensor& out, const at::Tensor& y) {
         return -at::log(at::softmax(out * 1e4, 1).gather(1, y.unsqueeze(1))).mean();
       }),
       "log", "fc3 -> softmax", Cause::log_of_zero},
      {"entropy of a sure answer", gru, loss([](const at::Tensor& out, const at::Tensor&) {
         const at::Tensor p = at::softmax(out * 1e5, 1);
         return -(p * p.log()).sum(1).mean();
       }),
       "log", "head -> softmax", Cause::log_of_zero},
      {"logarithm of a rectified output", residual,
       loss([](const at::Tensor& out, const at::Tensor&) { return at::log(at::relu(out - 1e3)).mean(); }), "log",
       "head", Cause::log_of_zero},
      {"log2 of zero", normalised, hidden("fc1", [](const at::Tensor& h) { return at::log2(h * 0); }), "log2", "fc1",
       Cause::log_of_zero},
      {"log1p of minus one", autoencoder, hidden("narrow", [](const at::Tensor& h) { return at::log1p(h * 0 - 1); }),
       "log1p", "narrow", Cause::log_of_zero},
      {"logarithm of a negative number", lstm,
       hidden("states", [](const at::Tensor& h) { return at::log(-h.abs() - 1); }), "log", "lstm", Cause::log_of_zero},
      {"logit of one", variational,
       hidden("decode", [](const at::Tensor& h) { return at::logit(at::sigmoid(h * 0 + 200)); }), "logit", "decode",
       Cause::log_of_zero},
      {"xlogy of zero", recommender,
       loss([](const at::Tensor& out, const at::Tensor&) { return at::xlogy(at::ones_like(out), out * 0).mean(); }),
       "xlogy", "last", Cause::log_of_zero},
      {"slope of a logarithm at zero", deep,
       hidden("layer6", [](const at::Tensor& h) { return at::where(h > 5, at::log(h * 0), h); }), "log", "layer6",
       Cause::log_of_zero, Place::backward},
  };
}

/// Divisions.
std::vector<Origin> divisions() {
  return {
      {"normalised by a norm of zero", perceptron,
       hidden("fc2",
              [](const at::Tensor& h) {
                const at::Tensor none = h * 0;
                return none / none.norm(2, 1, true);
              }),
       "div", "fc2", Cause::division_by_zero},
      {"mean over an empty selection", convolutional, loss([](const at::Tensor& out, const at::Tensor& y) {
         return F::cross_entropy(out, y, F::CrossEntropyFuncOptions().reduction(::torch::kNone))
             .masked_select(y > 9)
             .mean();
       }),
       "mean", "head", Cause::division_by_zero},
      {"weights of samples that sum to zero", gru, loss([](const at::Tensor& out, const at::Tensor& y) {
         const at::Tensor none = at::zeros({kBatch});
         const auto each = F::cross_entropy(out, y, F::CrossEntropyFuncOptions().reduction(::torch::kNone));
         return (each * none).sum() / none.sum();
       }),
       "div", "", Cause::division_by_zero},
      {"all labels ignored", transformer, loss([](const at::Tensor& out, const at::Tensor& y) {
         return F::cross_entropy(out.flatten(0, 1), at::full_like(y.flatten(), -100));
       }),
       "nll_loss_forward", "head", Cause::division_by_zero},
      {"reciprocal of a rectified value", residual,
       hidden("block1", [](const at::Tensor& h) { return at::reciprocal(h * 0); }), "reciprocal", "block1_conv",
       Cause::division_by_zero},
      {"rsqrt of a variance of zero", normalised,
       hidden("fc2",
              [](const at::Tensor& h) {
                const at::Tensor same = at::ones_like(h) * h.slice(1, 0, 1);
                return (same - same.mean(1, true)) * at::rsqrt(same.var(1, false, true) * 0);
              }),
       "rsqrt", "fc2", Cause::division_by_zero},
      {"deviation of one sample", lstm,
       hidden("states", [](const at::Tensor& h) { return h / h.slice(0, 0, 1).std(0); }), "std", "lstm",
       Cause::division_by_zero},
      {"variance of one sample", autoencoder,
       hidden("code", [](const at::Tensor& h) { return h * h.slice(0, 0, 1).var(0, true, true); }), "var", "code",
       Cause::division_by_zero},
      {"every position of a row masked", transformer,
       hidden("attention",
              [](const at::Tensor& h) {
                return at::softmax(h.masked_fill(at::ones_like(h).to(at::kBool), -INFINITY), -1);
              }),
       "softmax", "qkv", Cause::division_by_zero},
      {"relative error of a target of zero", recommender,
       loss([](const at::Tensor& out, const at::Tensor& y) { return ((out - y) / (y * 0)).abs().mean(); }), "div",
       "last", Cause::division_by_zero},
      {"zero to a negative power", variational,
       hidden("encode", [](const at::Tensor& h) { return at::pow(h * 0, -0.5); }), "pow", "encode",
       Cause::division_by_zero},
      {"a user's function going forward", perceptron,
       hidden("fc1", [](const at::Tensor& h) { return DividesForward::apply(h); }), "div", "fc1",
       Cause::division_by_zero},
      {"slope of atan2 at the origin", deep,
       hidden("layer2", [](const at::Tensor& h) { return h + at::atan2(h * 0, h * 0); }), "atan2", "layer2",
       Cause::division_by_zero, Place::backward},
      {"fmod by zero", gru, hidden("states", [](const at::Tensor& h) { return at::fmod(h, h * 0); }), "fmod", "gru",
       Cause::division_by_zero},
  };
}

/// Roots and other functions that are steep.
std::vector<Origin> roots() {
  return {
      {"distance of two points that are one", autoencoder,
       hidden("code", [](const at::Tensor& h) { return h + at::sqrt((h - h).square().sum(1, true)); }), "sqrt", "code",
       Cause::sqrt_at_zero, Place::backward},
      {"root of a negative variance", convolutional,
       hidden("conv1", [](const at::Tensor& h) { return at::sqrt(-h.abs() - 1e-3); }), "sqrt", "conv1",
       Cause::sqrt_at_zero},
      {"broken power of a negative number", lstm,
       hidden("states", [](const at::Tensor& h) { return at::pow(-h.abs() - 1, 1.5); }), "pow", "lstm",
       Cause::sqrt_at_zero},
      {"slope of a power at zero", normalised,
       hidden("fc1", [](const at::Tensor& h) { return h + at::pow(h * 0, 0.5); }), "pow", "fc1", Cause::sqrt_at_zero,
       Place::backward},
      {"slope of a deviation of zero", perceptron,
       hidden("fc1", [](const at::Tensor& h) { return h + at::sqrt((h * 0).var(1, true, true)); }), "sqrt", "fc1",
       Cause::sqrt_at_zero, Place::backward},
      {"root mean square loss of a perfect fit", recommender,
       loss([](const at::Tensor& out, const at::Tensor&) { return at::sqrt(F::mse_loss(out, out.detach())); }), "sqrt",
       "last", Cause::sqrt_at_zero, Place::backward},
      {"slope of acos at one", gru, hidden("states", [](const at::Tensor& h) { return h + at::acos(h * 0 + 1); }),
       "acos", "gru", Cause::sqrt_at_zero, Place::backward},
      {"slope of asin at one", residual, hidden("stem", [](const at::Tensor& h) { return h + at::asin(h * 0 + 1); }),
       "asin", "stem", Cause::sqrt_at_zero, Place::backward},
  };
}

/// Overflows.
std::vector<Origin> overflows() {
  return {
      {"a softmax by hand", perceptron, loss([](const at::Tensor& out, const at::Tensor& y) {
         const at::Tensor e = at::exp(out * 1e4);
         return F::nll_loss(at::log(e / e.sum(1, true) + 1e-9), y);
       }),
       "exp", "fc3", Cause::exp_overflow},
      {"Poisson rates", recommender,
       loss([](const at::Tensor& out, const at::Tensor& y) { return F::poisson_nll_loss(out.abs() + 200, y.abs()); }),
       "exp", "last", Cause::exp_overflow},
      {"a variance too large", variational, hidden("encode", [](const at::Tensor& h) { return at::exp(h + 400); }),
       "exp", "encode", Cause::exp_overflow},
      {"cosh", normalised,
       loss([](const at::Tensor& out, const at::Tensor& y) { return at::log(at::cosh((out - y) * 1e4)).mean(); }),
       "cosh", "head", Cause::exp_overflow},
      {"expm1", autoencoder, hidden("widen", [](const at::Tensor& h) { return at::expm1(h.abs() + 300); }), "expm1",
       "widen", Cause::exp_overflow},
      {"sinh", deep, hidden("layer0", [](const at::Tensor& h) { return at::sinh(h * 0 + 200); }), "sinh", "layer0",
       Cause::exp_overflow},
      {"exp2", residual, hidden("block0", [](const at::Tensor& h) { return at::exp2(h + 300); }), "exp2", "block0_conv",
       Cause::exp_overflow},
      {"a square too large", lstm,
       loss([](const at::Tensor& out, const at::Tensor& y) { return (out * 1e25 - y).square().mean(); }), "pow", "head",
       Cause::exploding_signal},
      {"a product too large", convolutional,
       hidden("conv2", [](const at::Tensor& h) { return (h + 1) * 1e30 * (h + 1e20); }), "mul", "conv2",
       Cause::exploding_signal},
      {"weights too large, linear", perceptron, weight("fc3.weight", [](at::Tensor w) { w.fill_(3e38); }), "addmm",
       "fc3", Cause::exploding_signal},
      {"weights too large, convolution", convolutional, weight("conv2.weight", [](at::Tensor w) { w.fill_(3e38); }),
       "conv", "conv2", Cause::exploding_signal},
      {"a sum too large", gru, hidden("states", [](const at::Tensor& h) { return h + (h * 0 + 2e38).sum(1, true); }),
       "sum", "gru", Cause::exploding_signal},
      {"half precision", normalised,
       hidden("fc2", [](const at::Tensor& h) { return ((h + 1).to(at::kHalf) * 7e4).to(at::kFloat); }), "mul", "fc2",
       Cause::fp16_overflow},
      {"cast to half precision", autoencoder,
       hidden("narrow", [](const at::Tensor& h) { return (h.abs() * 1e6 + 7e4).to(at::kHalf).to(at::kFloat); }), "to",
       "narrow", Cause::fp16_overflow},
      {"a gradient too large", deep,
       hidden("layer5",
              [](const at::Tensor& h) {
                at::Tensor same = h * 1.0;
                same.register_hook([](const at::Tensor& g) { return (g.abs() + 1) * 3e38 * 1e10; });
                return same;
              }),
       "mul", "layer5", Cause::exploding_signal, Place::backward},
  };
}

/// Functions outside of where they are defined, and sums of infinities.
std::vector<Origin> domains() {
  const auto all_infinite = [](const at::Tensor& h) { return h.masked_fill(at::ones_like(h).to(at::kBool), INFINITY); };
  return {
      {"an angle of vectors a little too long", autoencoder,
       hidden("code", [](const at::Tensor& h) { return at::acos(h * 0 + 1.0001); }), "acos", "code",
       Cause::outside_domain},
      {"asin of two", perceptron, hidden("fc1", [](const at::Tensor& h) { return at::asin(h * 0 + 2); }), "asin", "fc1",
       Cause::outside_domain},
      {"atanh of one", gru, hidden("states", [](const at::Tensor& h) { return at::atanh(at::tanh(h * 0 + 50)); }),
       "atanh", "gru", Cause::outside_domain},
      {"acosh of a half", normalised, hidden("fc1", [](const at::Tensor& h) { return at::acosh(h * 0 + 0.5); }),
       "acosh", "fc1", Cause::outside_domain},
      {"erfinv of one", variational, hidden("decode", [](const at::Tensor& h) { return at::erfinv(h * 0 + 1); }),
       "erfinv", "decode", Cause::outside_domain},
      {"lgamma of zero", recommender, hidden("head", [](const at::Tensor& h) { return at::lgamma(h * 0); }), "lgamma",
       "head", Cause::outside_domain},
      {"zero times a mask of infinity", transformer,
       hidden("up", [](const at::Tensor& h) { return (h * 0) * at::full_like(h, -INFINITY); }), "mul", "up",
       Cause::outside_domain},
      {"infinite minus infinite", lstm,
       hidden("states", [=](const at::Tensor& h) { return all_infinite(h) - all_infinite(h); }), "sub", "lstm",
       Cause::outside_domain},
      {"infinite over infinite", residual,
       hidden("block0", [=](const at::Tensor& h) { return all_infinite(h) / all_infinite(h); }), "div", "block0_conv",
       Cause::outside_domain},
      {"the target's class is masked", convolutional, loss([](const at::Tensor& out, const at::Tensor& y) {
         return F::cross_entropy(out.masked_fill(at::one_hot(y, 4).to(at::kBool), -INFINITY), y);
       }),
       "nll_loss_forward", "head", Cause::log_of_zero},
      {"a user's function going back", deep,
       hidden("layer3", [](const at::Tensor& h) { return LogarithmGoingBack::apply(h); }), "log", "layer3",
       Cause::log_of_zero, Place::backward},
  };
}

/// What comes from outside.
std::vector<Origin> outsiders() {
  const auto one_nan = [](Sample& drawn) { drawn.x.view({kBatch, -1})[7][2] = NAN; };
  return {
      {"NaN in the batch, convolutional", convolutional, batch(one_nan), "", "conv1", Cause::corrupt_data,
       Place::batch},
      {"NaN in the batch, LSTM", lstm, batch(one_nan), "", "lstm", Cause::corrupt_data, Place::batch},
      {"NaN in the batch, variational", variational, batch(one_nan), "", "encode", Cause::corrupt_data, Place::batch},
      {"NaN in the batch, deep", deep, batch(one_nan), "", "layer0", Cause::corrupt_data, Place::batch},
      {"infinite in the batch, GRU", gru, batch([](Sample& drawn) { drawn.x[3][1][2] = INFINITY; }), "", "gru",
       Cause::corrupt_data, Place::batch},
      {"NaN among the targets, normalised", normalised, batch([](Sample& drawn) { drawn.y[5][0] = NAN; }), "", "",
       Cause::corrupt_data, Place::batch},
      {"NaN among the targets, recommender", recommender, batch([](Sample& drawn) { drawn.y[5] = NAN; }), "", "",
       Cause::corrupt_data, Place::batch},
      {"a NaN weight, perceptron", perceptron, weight("fc2.weight", [](at::Tensor w) { w[3][4] = NAN; }), "", "fc2",
       Cause::nonfinite_weight, Place::weights},
      {"an infinite bias, residual", residual, weight("head.bias", [](at::Tensor w) { w[1] = INFINITY; }), "", "head",
       Cause::nonfinite_weight, Place::weights},
      {"a NaN in an embedding, transformer", transformer, weight("words.weight", [](at::Tensor w) { w.fill_(NAN); }),
       "", "words", Cause::nonfinite_weight, Place::weights},
      {"a NaN in the scale of a normalisation, convolutional", convolutional,
       weight("bn1.weight", [](at::Tensor w) { w[0] = NAN; }), "", "bn1", Cause::nonfinite_weight, Place::weights},
      {"a NaN in the recurrent weights, LSTM", lstm, weight("lstm.weight_hh_l0", [](at::Tensor w) { w[0][0] = NAN; }),
       "", "lstm", Cause::nonfinite_weight, Place::weights},
  };
}

std::vector<Origin> origins() {
  std::vector<Origin> all;
  for (auto& part : {logarithms(), divisions(), roots(), overflows(), domains(), outsiders()}) {
    for (const Origin& origin : part) all.push_back(origin);
  }
  return all;
}

enum class Watched { no, plain_steps, whole_steps };

/// The program after some sound steps, and the monitor that sees the one that breaks.
struct Broken {
  Program program;
  std::unique_ptr<::torch::optim::Optimizer> optimizer;
  std::optional<Monitor> monitor;

  Broken(const Origin& origin, Watched how) {
    ::torch::manual_seed(3);
    program = origin.program();
    optimizer = program.optimizer(program.net->parameters());
    if (how != Watched::no) monitor.emplace(*program.net, *optimizer);
    for (int i = 0; i < kSoundSteps; ++i) EXPECT_TRUE(step(how)) << "sound";
    origin.plant(program);
    EXPECT_FALSE(step(how)) << "broken";
  }
  bool step(Watched how) {
    const Sample drawn = program.draw();
    if (monitor) monitor->batch(drawn.x, drawn.y);
    const auto compute = [&] { return program.loss(program.net->forward(drawn.x), drawn.y); };
    if (how == Watched::whole_steps) return monitor->train_step(compute);
    std::vector<at::Tensor> before;
    for (const at::Tensor& buffer : program.net->buffers()) before.push_back(buffer.clone());
    optimizer->zero_grad();
    const at::Tensor loss_now = compute();
    loss_now.backward();
    const bool go = monitor ? monitor->step(loss_now) : all_finite(loss_now, *program.net);
    if (go) {
      optimizer->step();
    } else if (!monitor) {  // as the monitor promises to leave a step out
      optimizer->zero_grad();
      const std::vector<at::Tensor> buffers = program.net->buffers();
      for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(before[i]);
    }
    return go;
  }
  /// All that a training goes on from: parameters, running statistics, and the next random number.
  [[nodiscard]] at::Tensor state() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& each : program.net->parameters()) all.push_back(each.detach().flatten().to(at::kDouble));
    for (const at::Tensor& each : program.net->buffers()) all.push_back(each.flatten().to(at::kDouble));
    all.push_back(at::rand({1}, at::kDouble));
    return at::cat(all).nan_to_num();
  }
};

std::string wrong_about(const Origin& planted, const std::optional<NonfiniteOrigin>& found) {
  if (!found) return "nothing was found";
  std::string wrong;
  if (found->cause != planted.cause) wrong += " reason";
  if (found->place != planted.place) wrong += " place";
  // "div inside mean" names the mean.
  const bool named = found->operation.starts_with(planted.operation) || found->inside.starts_with(planted.operation);
  if (!planted.operation.empty() && !named) wrong += " operation";
  if (!found->layer.starts_with(planted.layer)) wrong += " layer";
  return wrong.empty() ? ""
                       : "wrong:" + wrong + ": " + describe(*found) + " [" + std::string(to_string(found->cause)) + "]";
}

TEST(NanTrials, AWholeStepNamesOperationLayerAndReason) {
  constexpr double kShareRight = 0.95;
  const std::vector<Origin> all = origins();
  EXPECT_GE(all.size(), 60U);
  std::size_t right = 0;
  for (const Origin& origin : all) {
    SCOPED_TRACE(origin.name);
    const std::string wrong = wrong_about(origin, Broken(origin, Watched::whole_steps).monitor->origin());
    if (wrong.empty()) {
      ++right;
    } else {
      std::cout << origin.name << ": " << wrong << '\n';
    }
  }
  std::cout << right << " of " << all.size() << " right\n";
  expect_as_documented("origin of a NaN by `train_step`", right, all.size());
  EXPECT_GE(static_cast<double>(right), kShareRight * static_cast<double>(all.size()));
}

TEST(NanTrials, APlainStepNamesThePlace) {
  constexpr double kShareRight = 0.9;
  const std::vector<Origin> all = origins();
  std::size_t right = 0;
  for (const Origin& origin : all) {
    SCOPED_TRACE(origin.name);
    const Broken broken(origin, Watched::plain_steps);
    const auto& found = broken.monitor->origin();
    if (found && found->place == origin.place) {
      ++right;
    } else {
      std::cout << origin.name << ": " << (found ? describe(*found) : "nothing") << '\n';
    }
  }
  std::cout << right << " of " << all.size() << " right\n";
  expect_as_documented("its place (batch, weights, forward, backward) by `step` alone", right, all.size());
  EXPECT_GE(static_cast<double>(right), kShareRight * static_cast<double>(all.size()));
}

TEST(NanTrials, WatchingChangesNoBitOfATrainingThatBreaks) {
  for (const Origin& origin : origins()) {
    SCOPED_TRACE(origin.name);
    const at::Tensor alone = Broken(origin, Watched::no).state();
    EXPECT_TRUE(at::equal(alone, Broken(origin, Watched::plain_steps).state())) << "by step";
    EXPECT_TRUE(at::equal(alone, Broken(origin, Watched::whole_steps).state())) << "by train_step";
  }
}

}  // namespace
}  // namespace osler::torch::trial
