// After any probe, however it ended, the training is bit for bit what it was.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "example_trainings.h"
#include "osler/torch/checkup.h"
#include "osler/torch/curvature.h"
#include "osler/torch/fresh_start.h"
#include "osler/torch/initialisation.h"
#include "osler/torch/lr_range.h"
#include "osler/torch/noise_scale.h"
#include "osler/torch/overfit.h"
#include "osler/torch/sharpness.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;

/// A model with everything that a probe could leave changed: running statistics, dropout, a frozen parameter.
struct Delicate : nn::Module {
  nn::Linear in{register_module("in", nn::Linear(6, 16))};
  nn::BatchNorm1d norm{register_module("norm", nn::BatchNorm1d(16))};
  nn::Dropout drop{register_module("drop", nn::Dropout(0.2))};
  nn::Linear still{register_module("still", nn::Linear(16, 16))};
  nn::Linear out{register_module("out", nn::Linear(16, 3))};

  Delicate() {
    still->weight.requires_grad_(false);
    drop->eval();
  }
  at::Tensor forward(const at::Tensor& x) { return out(at::relu(still(drop(at::relu(norm(in(x))))))); }
};

std::string bytes(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  const at::Tensor host = tensor.detach().cpu().contiguous();
  return {static_cast<const char*>(host.data_ptr()), host.nbytes()};
}

/// Everything that must be as it was, and where the tensors lie.
std::vector<std::string> state_of(const Training& training) {
  std::vector<std::string> all;
  const auto note = [&](const at::Tensor& tensor) {
    all.push_back(bytes(tensor));
    all.push_back(bytes(tensor.grad()));
    all.push_back(tensor.requires_grad() ? "trained" : "frozen");
    all.push_back(std::to_string(reinterpret_cast<std::uintptr_t>(tensor.data_ptr())));
  };
  for (const at::Tensor& parameter : training.model.parameters()) note(parameter);
  for (const at::Tensor& buffer : training.model.buffers()) all.push_back(bytes(buffer));
  all.emplace_back(training.model.is_training() ? "training" : "evaluation");
  for (const auto& module : training.model.modules(false)) {
    all.emplace_back(module->is_training() ? "training" : "evaluation");
  }
  for (const auto& group : training.optimizer.param_groups()) {
    const auto& options = static_cast<const ::torch::optim::AdamOptions&>(group.options());
    all.push_back(std::to_string(options.lr()) + "/" + std::to_string(std::get<0>(options.betas())));
  }
  std::vector<std::string> states;
  for (const auto& item : training.optimizer.state()) {
    const auto& state = static_cast<const ::torch::optim::AdamParamState&>(*item.second);
    states.push_back(std::to_string(state.step()) + bytes(state.exp_avg()) + bytes(state.exp_avg_sq()));
  }
  std::sort(states.begin(), states.end());
  all.insert(all.end(), states.begin(), states.end());
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  all.push_back(bytes(generator.get_state()));
  return all;
}

struct Probe {
  std::string name;
  std::function<Experiment(const Training&, const Limits&)> run;
};

/// Every probe that works on a training.
std::vector<Probe> probes() {
  return {
      {"lr_range_test",
       [](const Training& training, const Limits& limits) {
         LrRangeOptions options;
         options.steps = 30;
         options.repeats = 2;
         return lr_range_test(training, options, limits);
       }},
      {"overfit_one_batch",
       [](const Training& training, const Limits& limits) {
         return overfit_one_batch(training, {60, 0.0}, limits);
       }},
      {"fresh_start",
       [](const Training& training, const Limits& limits) { return fresh_start(training, {.steps = 20}, limits); }},
      {"signal_propagation",
       [](const Training& training, const Limits& limits) { return signal_propagation(training, limits); }},
      {"initialisation_check",
       [](const Training& training, const Limits&) { return initialisation_check(training.model); }},
      {"checkup",
       [](const Training& training, const Limits& limits) {
         CheckupOptions options;
         options.overfit = {40, 0.0};
         return checkup(training, options, limits);
       }},
      {"sharpness",
       [](const Training& training, const Limits& limits) {
         SharpnessOptions options;
         options.repeats = 3;
         return sharpness(training, options, limits);
       }},
      {"loss_surface",
       [](const Training& training, const Limits& limits) {
         SurfaceOptions options;
         options.points = 5;
         options.evaluation_mode = false;
         return loss_surface(training, options, limits);
       }},
      {"curvature",
       [](const Training& training, const Limits& limits) {
         CurvatureOptions options;
         options.most_products = 8;
         options.trace_samples = 2;
         options.products_per_layer = 3;
         return curvature(training, options, limits);
       }},
      {"curvature_by_differences",
       [](const Training& training, const Limits& limits) {
         CurvatureOptions options;
         options.most_products = 5;
         options.trace_samples = 0;
         options.products_per_layer = 0;
         options.differences = true;
         options.evaluation_mode = false;
         return curvature(training, options, limits);
       }},
      {"gradient_noise_scale",
       [](const Training& training, const Limits& limits) { return gradient_noise_scale(training, {}, limits); }},
      {"update_ratios",
       [](const Training& training, const Limits& limits) { return update_ratios(training, {}, limits); }},
  };
}

class ProbesRestore : public testing::TestWithParam<Probe> {
 protected:
  ProbesRestore() {
    at::set_num_threads(1);
    ::torch::manual_seed(3);
    trainee_ = std::make_unique<Trainee>(trainee(
        std::make_shared<Delicate>(), adaptive<::torch::optim::Adam>(1e-3),
        [] {
          return std::pair(at::randn({16, 6}), at::randint(0, 3, {16}, at::kLong));
        },
        class_loss, 3));
    for (int step = 0; step < 3; ++step) {  // so that the optimizer has a state
      trainee_->optimizer->zero_grad();
      training().loss_of(training().next_batch()).backward();
      trainee_->optimizer->step();
    }
    at::randn({3});  // the random numbers are in the middle of something
  }
  Training& training() { return trainee_->training; }

  /// Calls `meanwhile` at the given forward pass, counted from 0.
  void at_forward(int number, std::function<void()> meanwhile) {
    training().forward = [=, forward = training().forward, count = std::make_shared<int>(0)](const at::Tensor& x) {
      if ((*count)++ == number) meanwhile();
      return forward(x);
    };
  }
  Experiment expect_restored(const Limits& limits = {}) {
    const std::vector<std::string> before = state_of(training());
    Experiment found = GetParam().run(training(), limits);
    EXPECT_EQ(state_of(training()), before) << found.verdict;
    return found;
  }

 private:
  std::unique_ptr<Trainee> trainee_;
};

TEST_P(ProbesRestore, AtTheEnd) {
  EXPECT_NE(expect_restored().outcome, Experiment::Outcome::stopped);
}

TEST_P(ProbesRestore, InEvaluationMode) {
  training().model.eval();
  expect_restored();
}

TEST_P(ProbesRestore, WhenStoppedBeforeItBegins) {
  std::stop_source source;
  source.request_stop();
  const Experiment found = expect_restored({std::numeric_limits<double>::infinity(), source.get_token()});
  if (GetParam().name != "initialisation_check") {
    EXPECT_EQ(found.outcome, Experiment::Outcome::stopped);
  }
}

TEST_P(ProbesRestore, WhenStoppedInTheMiddle) {
  for (const int number : {0, 7, 25}) {
    std::stop_source source;
    at_forward(number, [&] { source.request_stop(); });
    expect_restored({std::numeric_limits<double>::infinity(), source.get_token()});
  }
}

TEST_P(ProbesRestore, WhenTheTimeIsUp) {
  expect_restored({0.0, {}});
  expect_restored({0.02, {}});
}

TEST_P(ProbesRestore, WhenTheForwardPassThrows) {
  for (const int number : {0, 5, 30}) {
    at_forward(number, [] { throw std::runtime_error("planted"); });
    expect_restored();
  }
  at_forward(3, [] { throw 7; });
  expect_restored();
}

INSTANTIATE_TEST_SUITE_P(AllProbes, ProbesRestore, testing::ValuesIn(probes()),
                         [](const testing::TestParamInfo<Probe>& info) { return info.param.name; });

}  // namespace
}  // namespace osler::torch
