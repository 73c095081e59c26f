// Attempts to memorise one batch.
#include "torch/probes/overfit_case.h"

#include <torch/optim/adam.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "osler/torch/batch_check.h"

namespace osler::torch {
namespace {

constexpr int kBatchesTried = 4;
constexpr double kMemorised = 0.05;   // of the way from the lowest possible loss to the first
constexpr std::size_t kSettled = 3;   // newest losses that must all be low: dropout has lucky steps
constexpr int kFreeSteps = 150;       // of the free outputs, by either method
constexpr double kPlainRate = 1e-3;   // Adam's default
constexpr double kStillFalls = 0.02;  // of the way to the target, within the newest half of an attempt's steps

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
    if (losses.size() < 3 || losses.back() >= 0) return;
    // A loss with a minimum is approached more and more slowly.
    const double middle = losses[losses.size() / 2];
    found.unbounded =
        found.unbounded || (losses.back() < losses.front() && middle - losses.back() > losses.front() - middle);
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
  first_ = training_.loss(outputs, batch_.targets).item<double>();
  const auto loss_of = [&](const at::Tensor& free) { return training_.loss(free, batch_.targets); };
  if (!std::isfinite(first_) || !outputs.is_floating_point()) return false;
  if (!loss_of(outputs.detach().clone().requires_grad_(true)).requires_grad()) return false;
  const FreeOutputs free = free_outputs(outputs, loss_of, clock_);
  floor_ = std::min(free.lowest, first_);
  unbounded_ = free.unbounded;
  target_ = options_.target.value_or(floor_ + kMemorised * (first_ - floor_));
  return true;
}

bool OverfitCase::still_falls(const Course& course) const {
  const std::size_t half = options_.steps / 2;
  const std::size_t count = course.losses.size();
  if (half == 0 || count < 2 * half) return false;
  const auto mean = [&](std::size_t from, std::size_t to) {
    const auto begin = course.losses.begin();
    return std::accumulate(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to), 0.0) /
           static_cast<double>(to - from);
  };
  return mean(count - 2 * half, count - half) - mean(count - half, count) > kStillFalls * (first_ - target_);
}

const Course& OverfitCase::attempt(const Attempt& attempt) {
  const auto [at, fresh] = made_.try_emplace(attempt);
  Course& course = at->second;
  if (!fresh) return course;
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
  for (std::size_t step = 0; !course.memorised; ++step) {
    if (step == most) {
      if (attempt != Attempt{} || most >= options_.patience * options_.steps || !still_falls(course)) break;
      most += options_.steps;
    }
    clock_.check();
    const double loss = optimizer_step(training_, optimizer, {&batch_, 1});
    course.losses.push_back(loss);
    if (!std::isfinite(loss)) break;
    course.memorised = course.losses.size() >= kSettled &&
                       std::all_of(course.losses.end() - static_cast<std::ptrdiff_t>(kSettled), course.losses.end(),
                                   [&](double newest) { return newest <= target_; });
  }
  return course;
}

}  // namespace osler::torch
