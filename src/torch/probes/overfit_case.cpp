// Attempts to memorise one batch.
#include "torch/probes/overfit_case.h"

#include <torch/optim/adam.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "osler/torch/batch_check.h"

namespace osler::torch {
namespace {

constexpr int kBatchesTried = 4;
constexpr int kFreeSteps = 150;      // of the free outputs, by either method
constexpr double kPlainRate = 1e-3;  // Adam's default

/// How low free outputs bring the loss, without a model behind them.
struct FreeOutputs {
  double lowest = std::numeric_limits<double>::infinity();
  bool unbounded = false;
};

FreeOutputs free_outputs(const at::Tensor& outputs, const std::function<at::Tensor(const at::Tensor&)>& loss_of,
                         const Clock& clock) {
  FreeOutputs found;
  const auto train = [&](auto make_optimizer) {
    at::Tensor free = outputs.detach().clone().requires_grad_(true);
    auto optimizer = make_optimizer(free);
    std::vector<double> losses;
    for (int step = 0; step < kFreeSteps; ++step) {
      clock.check();
      const auto closure = [&] {
        optimizer.zero_grad();
        at::Tensor loss = loss_of(free);
        loss.backward();
        return loss;
      };
      const double loss = optimizer.step(closure).template item<double>();
      if (!std::isfinite(loss)) break;
      losses.push_back(loss);
      found.lowest = std::min(found.lowest, loss);
    }
    found.unbounded = found.unbounded || probes::falls_without_end(losses);
  };
  // Newton's way suits smooth losses of any scale, Adam those with corners.
  train([](at::Tensor& free) {
    return ::torch::optim::LBFGS(std::vector<at::Tensor>{free},
                                 ::torch::optim::LBFGSOptions(1).max_iter(1).line_search_fn("strong_wolfe"));
  });
  const double scale = std::max(1.0, outputs.detach().abs().max().item<double>());
  train([&](at::Tensor& free) {
    return ::torch::optim::Adam(std::vector<at::Tensor>{free}, ::torch::optim::AdamOptions(0.1 * scale));
  });
  return found;
}

bool holds_log_probabilities(const at::Tensor& outputs) {
  if (outputs.dim() < 2 || outputs.size(1) < 2 || !outputs.is_floating_point()) return false;
  const at::Tensor sums = at::logsumexp(outputs.detach(), 1);
  return sums.abs().max().item<double>() < 1e-3;
}

}  // namespace

void OverfitCase::choose_batch() {
  for (int i = 0; i < kBatchesTried; ++i) {
    batch_ = training_.next_batch();
    if (!validate_batch({}, batch_.targets).constant_label) return;
  }
}

bool OverfitCase::aim() {
  preserved_.restore();
  switch_to_training(training_.model);
  const at::Tensor outputs = training_.forward(batch_.inputs);
  goal_.first = training_.loss(outputs, batch_.targets).item<double>();
  // Free outputs of a model that gives logarithms of probabilities must remain such.
  const bool logs = holds_log_probabilities(outputs);
  const auto loss_of = [&](const at::Tensor& free) {
    return training_.loss(logs ? at::log_softmax(free, 1) : free, batch_.targets);
  };
  if (!std::isfinite(goal_.first) || !outputs.is_floating_point()) return false;
  if (!loss_of(outputs.detach().clone().requires_grad_(true)).requires_grad()) return false;
  const FreeOutputs free = free_outputs(outputs, loss_of, clock_);
  const double blank = loss_of(at::zeros_like(outputs.detach())).item<double>();
  goal_ = probes::MemoryGoal::towards(goal_.first, std::min(free.lowest, goal_.first), blank);
  unbounded_ = free.unbounded;
  if (options_.target) goal_.target = *options_.target;
  return true;
}

const Tried& OverfitCase::attempt(const Attempt& attempt) {
  const auto [at, fresh] = made_.try_emplace(attempt);
  Tried& tried = at->second;
  if (!fresh) return tried;
  preserved_.restore();
  ::torch::nn::Module& model = training_.model;
  switch_to_training(model);
  if (attempt.mode == Attempt::Mode::training) model.train();
  if (attempt.mode == Attempt::Mode::evaluation) model.eval();
  for (auto& group : training_.optimizer.param_groups()) {
    group.options().set_lr(group.options().get_lr() * attempt.rate_factor);
  }
  std::optional<::torch::optim::Adam> plain;
  if (attempt.plain_optimizer) {
    for (at::Tensor& parameter : model.parameters()) {
      if (parameter.is_floating_point()) parameter.requires_grad_(true);
    }
    plain.emplace(model.parameters(), ::torch::optim::AdamOptions(kPlainRate * attempt.rate_factor));
  }
  ::torch::optim::Optimizer& optimizer = plain ? *plain : training_.optimizer;
  std::size_t most = options_.steps;
  for (std::size_t step = 0; !tried.memorised; ++step) {
    if (step == most) {
      if (attempt != Attempt{} || most >= options_.patience * options_.steps ||
          !goal_.still_falls(tried.losses, options_.steps))
        break;
      most += options_.steps;
    }
    clock_.check();
    const double loss = optimizer_step(training_, optimizer, {&batch_, 1});
    tried.losses.push_back(loss);
    if (!std::isfinite(loss)) break;
    tried.memorised = goal_.reached(tried.losses);
  }
  return tried;
}

}  // namespace osler::torch
