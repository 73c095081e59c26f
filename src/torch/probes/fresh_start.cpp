// Short trainings from the same fresh weights, each with one thing changed.
#include "osler/torch/fresh_start.h"

#include <fmt/format.h>
#include <torch/optim.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "probes/fresh_start.h"
#include "torch/probes/parameters.h"
#include "torch/probes/probe.h"
#include "torch/probes/redraw.h"

namespace osler::torch {
namespace {

constexpr std::size_t kStartBatches = 8;

template <typename Options>
bool drop_decay_as(::torch::optim::OptimizerOptions& options) {
  auto* const own = dynamic_cast<Options*>(&options);
  if (own == nullptr || !(own->weight_decay() > 0)) return false;
  own->weight_decay(0);
  return true;
}

/// Takes weight decay and dropout away; false where there was neither.
bool drop_regularisation(const Training& training) {
  namespace optim = ::torch::optim;
  bool any = false;
  for (auto& group : training.optimizer.param_groups()) {
    optim::OptimizerOptions& options = group.options();
    any = drop_decay_as<optim::SGDOptions>(options) || drop_decay_as<optim::AdamOptions>(options) ||
          drop_decay_as<optim::AdamWOptions>(options) || drop_decay_as<optim::RMSpropOptions>(options) ||
          drop_decay_as<optim::AdagradOptions>(options) || any;
  }
  for (const auto& module : training.model.modules(/*include_self=*/false)) {
    if (module->name().find("Dropout") == std::string::npos || !module->is_training()) continue;
    module->eval();
    any = true;
  }
  return any;
}

/// The trainings of one test.
class Trial {
 public:
  Trial(const Training& training, std::size_t steps, Preserved& preserved, const Clock& clock)
      : training_(training), steps_(steps), preserved_(preserved), clock_(clock) {}

  /// Finds the weights to begin with; gives back the parameters for which that is not possible.
  std::vector<std::string> begin() {
    switch_to_training(training_.model);
    now = level_here();
    std::vector<std::string> left;
    if (training_.restart) {
      training_.restart();
    } else {
      left = redraw(training_.model);
    }
    for (const at::Tensor& parameter : training_.model.parameters()) start_.push_back(parameter.detach().clone());
    for (const auto& group : training_.optimizer.param_groups()) rates_.push_back(group.options().get_lr());
    first = level_here();
    return left;
  }

  /// The losses up to where it broke; nothing when the training would not differ from one with regularisation.
  std::optional<std::vector<double>> train(const probes::FreshArm& arm) {
    preserved_.restore();
    {
      const at::NoGradGuard no_graph;
      std::vector<at::Tensor> parameters = training_.model.parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(start_[i]);
    }
    training_.optimizer.state().clear();
    switch_to_training(training_.model);
    auto& groups = training_.optimizer.param_groups();
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates_[i] * arm.factor);
    if (!arm.regularised && !drop_regularisation(training_)) return std::nullopt;
    std::vector<double> losses;
    while (losses.size() < steps_) {
      clock_.check();
      const Batch batch = training_.next_batch();
      losses.push_back(optimizer_step(training_, training_.optimizer, {&batch, 1}));
      if (!std::isfinite(losses.back())) break;
    }
    return losses;
  }

  [[nodiscard]] double rate() const { return rates_.front(); }

  bool classes = false;     ///< the targets are class numbers
  probes::LossLevel now;    ///< of the weights that the training has come to
  probes::LossLevel first;  ///< of the fresh ones

 private:
  [[nodiscard]] probes::LossLevel level_here() {
    const at::NoGradGuard no_graph;
    std::vector<double> losses;
    for (std::size_t i = 0; i < kStartBatches; ++i) {
      clock_.check();
      const Batch batch = training_.next_batch();
      classes = classes || (batch.targets.defined() && batch.targets.scalar_type() == at::kLong);
      losses.push_back(training_.loss_of(batch).item<double>());
    }
    return probes::level_of(losses);
  }

  const Training& training_;
  std::size_t steps_;
  Preserved& preserved_;
  const Clock& clock_;
  std::vector<at::Tensor> start_;
  std::vector<double> rates_;
};

}  // namespace

Experiment fresh_start(const Training& training, const FreshStartOptions& options, const Limits& limits) {
  if (options.steps < 10) throw std::invalid_argument("fresh-start: steps must be at least 10.");
  if (!(options.largest >= 10)) throw std::invalid_argument("fresh-start: largest must be at least 10.");
  return run_probe(
      "fresh-start", training, limits, [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
        Trial trial(training, options.steps, preserved, clock);
        if (const auto left = trial.begin(); !left.empty()) {
          experiment.verdict =
              fmt::format("How {} began is not known: set Training::restart, and the test can be run.", some_of(left));
          return;
        }
        if (!std::isfinite(trial.first.mean)) {
          experiment.verdict = "Fresh weights have no finite loss: there is nothing to begin with.";
          return;
        }
        probes::FreshTrial fresh(trial.now, trial.first, trial.rate(), options.steps, options.largest,
                                 training.classes.has_value() || trial.classes);
        while (const auto arm = fresh.next()) {
          if (auto losses = trial.train(*arm)) {
            fresh.trained(*arm, std::move(*losses));
          } else {
            fresh.nothing_to_drop();
          }
        }
        fresh.write(experiment);
      });
}

}  // namespace osler::torch
