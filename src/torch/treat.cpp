// Forks of a training that a factory builds.
#include "osler/torch/treat.h"

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

using probes::Changes;
using probes::Fork;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// What the library sees to by itself.
bool is_own(const Remedy::Change& change) {
  return (change.name == "lr" || change.name == "clip_norm") && number_in(change.to).has_value();
}

/// The newest value of a setting among the changes.
std::optional<double> changed(const Changes& changes, std::string_view name) {
  const auto found =
      std::find_if(changes.rbegin(), changes.rend(), [&](const Remedy::Change& change) { return change.name == name; });
  return found != changes.rend() ? number_in(found->to) : std::nullopt;
}

MonitorOptions monitor_options(const ForkOptions& forks, const Training& training, const Changes& changes) {
  constexpr std::int64_t kLooks = 50;  // at parameters and activations, in a fork
  MonitorOptions options;
  options.statistics_every = std::max<std::int64_t>(1, forks.steps / kLooks);
  options.trace_every = options.statistics_every;
  options.diagnose_every = -1;
  options.classes = training.classes;
  options.clip_norm = changed(changes, "clip_norm");
  return options;
}

/// The mean loss over some validation batches, in evaluation mode.
double judge(const BuiltTraining& built, std::int64_t batches) {
  at::NoGradGuard guard;
  const bool training = built.model->is_training();
  built.model->eval();
  double sum = 0;
  for (std::int64_t i = 0; i < batches; ++i) {
    sum += built.training.loss_of(built.training.next_validation_batch()).item<double>();
  }
  built.model->train(training);
  return sum / static_cast<double>(batches);
}

Fork run_fork(const Factory& factory, const ForkOptions& forks, const Changes& changes) {
  ::torch::manual_seed(forks.seed);
  const BuiltTraining built = factory(changes);
  if (const auto rate = changed(changes, "lr")) {
    for (auto& group : built.optimizer->param_groups()) group.options().set_lr(*rate);
  }
  Monitor monitor(*built.model, *built.optimizer, monitor_options(forks, built.training, changes));
  built.model->train();
  double tail = 0;
  const std::int64_t last = std::max<std::int64_t>(1, forks.steps / 10);
  for (std::int64_t step = 0; step < forks.steps; ++step) {
    const Batch batch = built.training.next_batch();
    double loss = 0;
    monitor.train_step([&] {
      const at::Tensor value = built.training.loss_of(batch);
      loss = value.item<double>();
      return value;
    });
    if (step >= forks.steps - last) tail += loss / static_cast<double>(last);
  }
  const bool validated = built.training.next_validation_batch && forks.validation_batches > 0;
  const double loss = validated ? judge(built, forks.validation_batches) : tail;
  return {loss, monitor.report()};
}

}  // namespace

probes::Cure treat(const Report& report, const Factory& factory, const ForkOptions& forks,
                   const probes::TreatOptions& options) {
  probes::Forks ways;
  ways.can_apply = [&](const Remedy::Change& change) {
    return is_own(change) ||
           std::find(forks.can_change.begin(), forks.can_change.end(), change.name) != forks.can_change.end();
  };
  ways.run = [&](const Changes& changes) {
    try {
      return run_fork(factory, forks, changes);
    } catch (const std::exception&) {
      return Fork{};  // a training that cannot be built or finished helps nobody
    }
  };
  return probes::treat(report, ways, options);
}

}  // namespace osler::torch
