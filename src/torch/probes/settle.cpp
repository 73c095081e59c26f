// Settling on a training of LibTorch's: counting passes, recording, weighing.
#include "osler/torch/settle.h"

#include <functional>
#include <utility>

#include "osler/diagnosis/diagnose.h"
#include "torch/probes/probe.h"
#include "torch/probes/settle_tests.h"

namespace osler::torch {
namespace {

/// Counts what an experiment spends, and ends it when that is more than there is.
class Meter {
 public:
  Meter(const Training& training, std::int64_t most, const Limits& limits)
      : training_(training),
        most_(most),
        seconds_(limits.seconds),
        outer_(limits.stop, [this] { cut_.request_stop(); }) {
    training_.forward = [this, forward = training.forward](const at::Tensor& inputs) {
      // A pass forward alone is about a third of one forward and backward.
      thirds_ += at::GradMode::is_enabled() ? 3 : 1;
      if (passes() >= most_) cut_.request_stop();
      return forward(inputs);
    };
  }

  [[nodiscard]] const Training& training() const { return training_; }
  [[nodiscard]] Limits limits() const { return {seconds_, cut_.get_token()}; }
  [[nodiscard]] std::int64_t passes() const { return (thirds_ + 2) / 3; }

 private:
  Training training_;
  std::int64_t most_;
  double seconds_;
  std::int64_t thirds_ = 0;
  std::stop_source cut_;
  std::stop_callback<std::function<void()>> outer_;
};

/// What the neutral choice of experiments needs, of a training of LibTorch's.
probes::SettleMeans means_of(const Training& training, const Limits& limits, const Clock& clock) {
  probes::SettleMeans means;
  means.run = [&](std::string_view probe, std::int64_t passes, std::int64_t left) {
    Meter meter(training, left, clock.left());
    Experiment experiment = run_settling_test(probe, meter.training(), passes, meter.limits());
    return probes::SettleMeans::Spent{std::move(experiment), meter.passes()};
  };
  means.ended = [&]() -> std::string {
    if (limits.stop.stop_requested()) return "A stop was asked for.";
    return clock.seconds() >= limits.seconds ? "The time is up." : "";
  };
  return means;
}

}  // namespace

Settled settle(Monitor& monitor, const Training& training, const SettleOptions& options, const Limits& limits) {
  const Clock clock(limits);
  probes::SettleMeans means = means_of(training, limits, clock);
  means.record = [&](const Experiment& experiment) { monitor.experiment(experiment); };
  means.weigh = [&] { return monitor.report(); };
  return probes::settle(means, monitor.steps(), options);
}

Settled settle(Run& run, const Training& training, const SettleOptions& options, const Limits& limits) {
  const Clock clock(limits);
  probes::SettleMeans means = means_of(training, limits, clock);
  means.record = [&](Experiment experiment) {
    experiment.step = run.steps().last;
    run.config(experiment_key(experiment.probe), to_json(experiment));
  };
  means.weigh = [&] {
    Result<Report> report = diagnose(run);
    return report ? std::move(*report) : Report{};
  };
  return probes::settle(means, static_cast<std::int64_t>(run.steps().count), options);
}

}  // namespace osler::torch
