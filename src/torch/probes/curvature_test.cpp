// Curvature against dense Hessians, constructed places, and what is known of optimizers.
#include "osler/torch/curvature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "torch/probes/curvature_product.h"
#include "torch/probes/probe_sample.h"

namespace osler::torch {
namespace {

/// The Hessian, column by column.
at::Tensor dense_hessian(const Training& training, int batches, bool differences = false) {
  SurfaceLoss surface(training, batches, true);
  HessianProduct product(surface, differences);
  std::vector<at::Tensor> columns;
  for (std::int64_t i = 0; i < surface.size(); ++i) {
    at::Tensor unit = at::zeros({surface.size()}, surface.origin().options());
    unit[i] = 1;
    columns.push_back(product(unit));
  }
  return at::stack(columns, 1).to(at::kDouble);
}

TEST(Curvature, AgreesWithTheDenseHessianOfSmallNets) {
  for (const int steps : {0, 30, 300}) {
    SCOPED_TRACE(steps);
    SampleTraining sample(7);
    sample.train(steps);
    const Training training = sample.training();
    const at::Tensor hessian = dense_hessian(training, 1);
    EXPECT_LT((hessian - hessian.t()).norm().item<double>(), 1e-4 * hessian.norm().item<double>());
    const at::Tensor values = std::get<0>(at::linalg_eigh((hessian + hessian.t()) / 2));
    CurvatureOptions options;
    options.batches = 1;
    options.trace_samples = 40;
    const Experiment found = curvature(training, options);
    const double top = values[-1].item<double>();
    const double lowest = values[0].item<double>();
    EXPECT_NEAR(*found.value("top-eigenvalue"), top, 0.01 * top) << found.verdict;
    EXPECT_NEAR(*found.value("lowest-eigenvalue"), lowest, 0.01 * std::abs(lowest)) << found.verdict;
    EXPECT_EQ(found.value("exact-products"), 1);
    // The interval is of two standard errors; three are allowed.
    const double trace = hessian.trace().item<double>();
    const auto& told = *std::find_if(found.values.begin(), found.values.end(),
                                     [](const Experiment::Value& value) { return value.name == "trace"; });
    EXPECT_NEAR(told.value, trace, 1.5 * (*told.high - told.value));
    EXPECT_LT(*told.high - told.value, trace);
  }
}

TEST(Curvature, KnowsEachLayersBlock) {
  SampleTraining sample(3);
  sample.train(50);
  const Training training = sample.training();
  const at::Tensor hessian = dense_hessian(training, 1);
  CurvatureOptions options;
  options.batches = 1;
  options.trace_samples = 64;
  options.products_per_layer = 30;
  const Experiment found = curvature(training, options);
  ASSERT_EQ(found.checks.size(), 2U);
  EXPECT_EQ(found.checks[0].id, "in");
  EXPECT_EQ(found.checks[1].id, "out");
  const std::int64_t border = 4 * 6 + 6;
  const at::Tensor blocks[] = {hessian.slice(0, 0, border).slice(1, 0, border),
                               hessian.slice(0, border).slice(1, border)};
  for (std::size_t i = 0; i < 2; ++i) {
    const double top = std::get<0>(at::linalg_eigh((blocks[i] + blocks[i].t()) / 2))[-1].item<double>();
    EXPECT_NEAR(found.column("layer-top-eigenvalue")->values[i], top, 0.01 * top);
    EXPECT_NEAR(found.column("layer-trace")->values[i], blocks[i].trace().item<double>(),
                3 * found.column("layer-trace-error")->values[i]);
  }
}

TEST(Curvature, DifferencesOfGradientsComeCloseToExactProducts) {
  SampleTraining sample(5);
  sample.train(100);
  const Training training = sample.training();
  const at::Tensor exact = dense_hessian(training, 2);
  const at::Tensor differences = dense_hessian(training, 2, true);
  EXPECT_LT((exact - differences).norm().item<double>(), 0.01 * exact.norm().item<double>());
}

/// The tangent as an operation whose derivative cannot be differentiated again.
struct OnceOnly : ::torch::autograd::Function<OnceOnly> {
  static at::Tensor forward(::torch::autograd::AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return at::tanh(x);
  }
  static ::torch::autograd::variable_list backward(::torch::autograd::AutogradContext* context,
                                                   ::torch::autograd::variable_list gradients) {
    struct Refusing : ::torch::autograd::Function<Refusing> {
      static at::Tensor forward(::torch::autograd::AutogradContext*, const at::Tensor& gradient, const at::Tensor& x) {
        return gradient * (1 - at::tanh(x).square());
      }
      static ::torch::autograd::variable_list backward(::torch::autograd::AutogradContext*,
                                                       const ::torch::autograd::variable_list&) {
        throw std::runtime_error("no second derivative here");
      }
    };
    return {Refusing::apply(gradients[0], context->get_saved_variables()[0])};
  }
};

TEST(Curvature, FallsBackWhereAnOperationHasNoSecondDerivative) {
  SampleTraining sample(5);
  sample.train(100);
  Training training = sample.training();
  const Experiment exact = curvature(training);
  training.forward = [&](const at::Tensor& x) { return sample.net->out(OnceOnly::apply(sample.net->in(x))); };
  const Experiment found = curvature(training);
  EXPECT_EQ(found.value("exact-products"), 0);
  EXPECT_NE(found.verdict.find("no second derivative here"), std::string::npos) << found.verdict;
  EXPECT_NEAR(*found.value("top-eigenvalue"), *exact.value("top-eigenvalue"), 0.02 * *exact.value("top-eigenvalue"));
}

/// A loss that is a given function of two weights.
struct Place : ::torch::nn::Module {
  explicit Place(std::vector<float> at) { weights = register_parameter("weights", at::tensor(at)); }
  at::Tensor weights;
};

Experiment at_place(std::vector<float> where,
                    const std::function<at::Tensor(const at::Tensor& weights, const at::Tensor& inputs)>& height,
                    const std::function<Batch()>& next_batch) {
  Place place(std::move(where));
  ::torch::optim::SGD optimizer(place.parameters(), ::torch::optim::SGDOptions(0.1));
  const Training training{place,
                          optimizer,
                          [&](const at::Tensor& inputs) { return height(place.weights, inputs); },
                          [](const at::Tensor& y, const at::Tensor&) { return y; },
                          next_batch,
                          {},
                          {}};
  return curvature(training);
}

Experiment at_place(std::vector<float> where, const std::function<at::Tensor(const at::Tensor&)>& height) {
  return at_place(
      std::move(where), [&](const at::Tensor& weights, const at::Tensor&) { return height(weights); },
      [] {
        return Batch{at::zeros({1}), {}};
      });
}

TEST(Curvature, TellsAMinimumFromASaddleAPlateauAndASlope) {
  const auto squares = [](double a, double b) {
    return [=](const at::Tensor& w) { return 1 + a * w[0].square() + b * w[1].square(); };
  };
  EXPECT_NE(at_place({0, 0}, squares(2, 1)).verdict.find("at a minimum"), std::string::npos);
  const Experiment saddle = at_place({0, 0}, squares(2, -1));
  EXPECT_NE(saddle.verdict.find("on a saddle"), std::string::npos) << saddle.verdict;
  EXPECT_EQ(saddle.outcome, Experiment::Outcome::failed);
  EXPECT_NEAR(*saddle.value("top-eigenvalue"), 4, 1e-5);
  EXPECT_NEAR(*saddle.value("lowest-eigenvalue"), -2, 1e-5);
  EXPECT_NE(at_place({0, 0}, squares(1e-6, 1e-6)).verdict.find("on a plateau"), std::string::npos);
  EXPECT_NE(at_place({1, 1}, squares(2, 1)).verdict.find("on a slope"), std::string::npos);
  // Where the loss is linear there is no curvature at all.
  const Experiment linear = at_place({1, 1}, [](const at::Tensor& w) { return w.sum(); });
  EXPECT_NE(linear.verdict.find("on a slope"), std::string::npos) << linear.verdict;
  EXPECT_EQ(linear.value("top-eigenvalue"), 0);
}

TEST(Curvature, IsNotTakenInByBatchesThatBendDownByChance) {
  // One sample in three bends down, and the two batches that are measured are both of these; the mean bends up.
  int drawn = 0;
  const auto few_bend_down = [&drawn] {
    const int place = drawn++;
    return Batch{at::full({1}, place < 2 || place % 3 == 0 ? -1.0 : 2.0), {}};
  };
  const Experiment found = at_place(
      {0, 0}, [](const at::Tensor& w, const at::Tensor& x) { return 1 + (x * w.square()).sum(); }, few_bend_down);
  EXPECT_LT(*found.value("lowest-eigenvalue"), -1);
  EXPECT_EQ(found.outcome, Experiment::Outcome::passed) << found.verdict;
  EXPECT_NE(found.verdict.find("does not on others"), std::string::npos) << found.verdict;
}

TEST(Curvature, FindsTheSaddleOfANetThatBeganAtZero) {
  SampleTraining sample(9);
  {
    const at::NoGradGuard no_graph;
    for (const at::Tensor& parameter : sample.net->parameters()) parameter.zero_();
    // The best constant guess: what is left is a saddle of the weights.
    const at::Tensor shares = at::bincount(sample.labels, {}, 3).to(at::kFloat) / 64;
    sample.net->out->bias.copy_(shares.log());
  }
  const Experiment found = curvature(sample.training());
  EXPECT_EQ(found.outcome, Experiment::Outcome::failed) << found.verdict;
  EXPECT_LT(*found.value("lowest-eigenvalue"), -0.05);
}

TEST(Curvature, MeasuresTheEdgeOfStability) {
  SampleTraining sample(11);
  sample.train(20);
  Training training = sample.training();
  const Experiment plain = curvature(training);
  EXPECT_NEAR(*plain.value("stability-limit"), 20, 1e-9);
  EXPECT_NEAR(*plain.value("stability-ratio"), *plain.value("top-eigenvalue") / 20, 1e-9);
  const auto ratio_with = [&](::torch::optim::Optimizer& optimizer) {
    Training other{training.model, optimizer, training.forward, training.loss, training.next_batch, {}, 3};
    return curvature(other);
  };
  ::torch::optim::SGD momentum(sample.net->parameters(), ::torch::optim::SGDOptions(0.1).momentum(0.9));
  EXPECT_NEAR(*ratio_with(momentum).value("stability-limit"), 38, 1e-9);
  // Half of the parameters with half the rate: the Hessian is scaled there.
  std::vector<::torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(sample.net->in->parameters(), std::make_unique<::torch::optim::SGDOptions>(0.1));
  groups.emplace_back(sample.net->out->parameters(), std::make_unique<::torch::optim::SGDOptions>(0.001));
  ::torch::optim::SGD two(groups, ::torch::optim::SGDOptions(0.1));
  EXPECT_LT(*ratio_with(two).value("stability-ratio"), *plain.value("stability-ratio"));

  ::torch::optim::Adam fresh(sample.net->parameters(), ::torch::optim::AdamOptions(0.01));
  const Experiment unknown = ratio_with(fresh);
  EXPECT_FALSE(unknown.value("stability-ratio"));
  EXPECT_NE(unknown.verdict.find("has not stepped yet"), std::string::npos) << unknown.verdict;
}

TEST(Curvature, AdamsPreconditionedCurvatureIsTheDenseOne) {
  SampleTraining sample(13);
  auto adam = std::make_unique<::torch::optim::Adam>(sample.net->parameters(), ::torch::optim::AdamOptions(0.01));
  const auto* state_source = adam.get();
  sample.optimizer = std::move(adam);
  sample.train(40);
  const at::Tensor hessian = dense_hessian(sample.training(), 2);
  at::Tensor sizes = at::zeros({hessian.size(0)}, at::kDouble);
  std::int64_t begin = 0;
  for (const at::Tensor& parameter : sample.net->parameters()) {
    for (const auto& [key, state] : state_source->state()) {
      const auto& own = dynamic_cast<const ::torch::optim::AdamParamState&>(*state);
      if (own.exp_avg_sq().sizes() != parameter.sizes()) continue;
      // All shapes of this net differ.
      const at::Tensor second = own.exp_avg_sq() / (1 - std::pow(0.999, 40));
      sizes.slice(0, begin, begin + parameter.numel()).copy_(second.sqrt().reshape({-1}) + 1e-8);
    }
    begin += parameter.numel();
  }
  const at::Tensor scale = sizes.rsqrt();
  const at::Tensor scaled = scale.unsqueeze(1) * hessian * scale.unsqueeze(0);
  const double top = std::get<0>(at::linalg_eigh((scaled + scaled.t()) / 2))[-1].item<double>();
  CurvatureOptions options;
  options.most_products = 55;
  const Experiment found = curvature(sample.training(), options);
  EXPECT_NEAR(*found.value("stability-limit"), 3800, 1);
  EXPECT_NEAR(*found.value("stability-ratio"), top / 3800, 0.01 * top / 3800);
}

TEST(Curvature, RefusesWhatItCannotMeasure) {
  SampleTraining sample;
  CurvatureOptions options;
  options.batches = 0;
  EXPECT_THROW(static_cast<void>(curvature(sample.training(), options)), std::invalid_argument);
  Training broken = sample.training();
  broken.loss = [](const at::Tensor& y, const at::Tensor&) { return y.sum() * std::nan(""); };
  const Experiment found = curvature(broken);
  EXPECT_EQ(found.outcome, Experiment::Outcome::undecided);
  EXPECT_NE(found.verdict.find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace osler::torch
