// A trial: a program trained for 400 steps under the monitor at its default budget, and what the reports said.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "osler/torch/monitor.h"
#include "trial_programs.h"

namespace osler::torch::trial {

constexpr int kSteps = 400;
constexpr int kStepsBetweenReports = 50;
constexpr int kStepsBetweenValidations = 50;

/// How a program is trained; a fault changes some of it.
struct Trial {
  Program program;
  bool clear_gradients = true;
  bool whole_steps = false;  // by train_step, not step
  bool show_batches = true;
  bool validates = true;
  bool validates_in_training_mode = false;
  bool validates_with_graph = false;
  std::function<void(MonitorOptions&)> options = [](MonitorOptions&) {};
  std::function<void(int step)> meanwhile = [](int) {};  // before a batch is drawn
  std::function<void(Sample&)> spoil = [](Sample&) {};   // a training batch
  std::function<void(Sample&)> spoil_validation = [](Sample&) {};
  std::function<bool(const std::string& name)> held = [](const std::string&) { return true; };  // by the optimizer
  std::function<void(::torch::optim::Optimizer&, int step)> schedule = [](::torch::optim::Optimizer&, int) {};
  std::function<void(int step)> before_optimizer = [](int) {};  // when the gradients are there
  std::function<void(Monitor&)> tell = [](Monitor&) {};         // once, in the middle
};

struct Outcome {
  std::vector<std::vector<Observation>> reports;  // warnings and worse, on the way and at the end
  at::Tensor weights;                             // all parameters at the end
};

inline std::vector<Observation> warnings_of(Monitor& monitor) {
  std::vector<Observation> seen = monitor.report().findings;
  std::erase_if(seen, [](const Observation& each) { return each.severity < Severity::warning; });
  return seen;
}

inline bool all_finite(const at::Tensor& loss, const nn::Module& model) {
  if (!std::isfinite(loss.item<double>())) return false;
  const auto parameters = model.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [](const at::Tensor& parameter) {
    return !parameter.grad().defined() || at::isfinite(parameter.grad()).all().item<bool>();
  });
}

/// Trains what `make` makes, with a monitor or without one.
class TrialRun {
 public:
  TrialRun(const std::function<Trial()>& make, bool watched) {
    ::torch::manual_seed(11);
    trial_ = make();
    std::vector<at::Tensor> held;
    for (const auto& named : net().named_parameters()) {
      if (trial_.held(named.key())) held.push_back(named.value());
    }
    optimizer_ = trial_.program.optimizer(held);
    if (!watched) return;
    MonitorOptions options;
    options.classes = trial_.program.classes;
    trial_.options(options);
    monitor_.emplace(net(), *optimizer_, std::move(options));
  }

  Outcome outcome() {
    Outcome made;
    for (int i = 0; i < kSteps; ++i) {
      step(i);
      if (trial_.validates && i % kStepsBetweenValidations == kStepsBetweenValidations - 1) validate();
      if (!monitor_) continue;
      if (i == kSteps / 2) trial_.tell(*monitor_);
      if (i % kStepsBetweenReports == kStepsBetweenReports - 1) made.reports.push_back(warnings_of(*monitor_));
    }
    made.weights = nn::utils::parameters_to_vector(net().parameters()).detach().clone();
    return made;
  }

 private:
  Net& net() { return *trial_.program.net; }

  void step(int i) {
    if (monitor_ && !trial_.whole_steps) monitor_->await_batch();
    trial_.meanwhile(i);
    Sample batch = trial_.program.draw();
    trial_.spoil(batch);
    if (monitor_ && !trial_.whole_steps) monitor_->batch_ready();
    if (monitor_ && trial_.show_batches) monitor_->batch(batch.x, batch.y);
    trial_.schedule(*optimizer_, i);
    const auto compute = [&] { return trial_.program.loss(net().forward(batch.x), batch.y); };
    if (monitor_ && trial_.whole_steps) {
      monitor_->train_step(compute);
      return;
    }
    if (trial_.clear_gradients) optimizer_->zero_grad();
    const at::Tensor loss = compute();
    loss.backward();
    trial_.before_optimizer(i);
    const bool go = monitor_ ? monitor_->step(loss) : all_finite(loss, net());
    if (go) {
      optimizer_->step();
    } else {
      optimizer_->zero_grad();
    }
  }

  void validate() {
    const bool before = net().is_training();
    net().train(trial_.validates_in_training_mode);
    const at::AutoGradMode graph(trial_.validates_with_graph);
    double loss = 0;
    double right = 0;
    constexpr int kBatches = 4;
    for (int i = 0; i < kBatches; ++i) {
      Sample batch = trial_.program.draw();
      trial_.spoil_validation(batch);
      const at::Tensor output = net().forward(batch.x);
      if (monitor_) monitor_->validation_batch(output);
      loss += trial_.program.loss(output, batch.y).item<double>() / kBatches;
      if (trial_.program.classes) {
        right += (output.argmax(-1) == batch.y).to(at::kFloat).mean().item<double>() / kBatches;
      }
    }
    net().train(before);
    if (!monitor_) return;
    if (trial_.program.classes) {
      monitor_->validation(loss, {{"accuracy", right}});
    } else {
      monitor_->validation(loss);
    }
  }

  Trial trial_;
  std::unique_ptr<::torch::optim::Optimizer> optimizer_;
  std::optional<Monitor> monitor_;
};

inline std::string listed(const std::vector<Observation>& seen) {
  std::string text;
  for (const Observation& each : seen) {
    text += std::string(text.empty() ? "" : "; ") + each.finding + ": " + each.summary;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace osler::torch::trial
