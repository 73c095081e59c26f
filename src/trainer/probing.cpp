// Running the gallery's probes on the training of a recipe.
#include "trainer/probing.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "monitor/clock.h"
#include "osler/torch/checkup.h"
#include "osler/torch/curvature.h"
#include "osler/torch/fresh_start.h"
#include "osler/torch/initialisation.h"
#include "osler/torch/lr_range.h"
#include "osler/torch/noise_scale.h"
#include "osler/torch/overfit.h"
#include "osler/torch/settle.h"
#include "osler/torch/sharpness.h"

namespace osler::trainer {
namespace {

using Experiments = std::vector<Experiment>;

struct Runner {
  std::string_view name;  ///< of the gallery's probe
  Experiments (*run)(const Training& training, const ProbeSubject& subject, const Limits& limits);
};

/// All but "settle", which writes to the run by itself.
constexpr std::array kRunners = {
    Runner{"checkup",
           [](const Training& training, const ProbeSubject& subject, const Limits& limits) {
             torch::CheckupOptions options;
             options.load_validation = subject.load_validation;
             return Experiments{checkup(training, options, limits)};
           }},
    Runner{"initialisation",
           [](const Training& training, const ProbeSubject& /*subject*/, const Limits& limits) {
             return Experiments{torch::initialisation_check(training.model), signal_propagation(training, limits)};
           }},
    Runner{"overfit", [](const Training& training, const ProbeSubject& /*subject*/,
                         const Limits& limits) { return Experiments{overfit_one_batch(training, {}, limits)}; }},
    Runner{"lr-range", [](const Training& training, const ProbeSubject& /*subject*/,
                          const Limits& limits) { return Experiments{lr_range_test(training, {}, limits)}; }},
    Runner{"update-ratios", [](const Training& training, const ProbeSubject& /*subject*/,
                               const Limits& limits) { return Experiments{update_ratios(training, {}, limits)}; }},
    Runner{"noise-scale", [](const Training& training, const ProbeSubject& /*subject*/,
                             const Limits& limits) { return Experiments{gradient_noise_scale(training, {}, limits)}; }},
    Runner{"sharpness", [](const Training& training, const ProbeSubject& /*subject*/,
                           const Limits& limits) { return Experiments{sharpness(training, {}, limits)}; }},
    Runner{"surface", [](const Training& training, const ProbeSubject& /*subject*/,
                         const Limits& limits) { return Experiments{loss_surface(training, {}, limits)}; }},
    Runner{"curvature", [](const Training& training, const ProbeSubject& /*subject*/,
                           const Limits& limits) { return Experiments{curvature(training, {}, limits)}; }},
    Runner{"fresh-start", [](const Training& training, const ProbeSubject& /*subject*/,
                             const Limits& limits) { return Experiments{fresh_start(training, {}, limits)}; }},
};

}  // namespace

gallery::ProbeAnswer run_probe(const gallery::Probe& probe, const ProbeSubject& subject, const Limits& limits,
                               const std::function<void(const gallery::ProbeProgress&)>& on_progress) {
  Training training = subject.training;
  gallery::ProbeProgress progress{probe.name, 0, probe.passes, 0};
  const double start = monitor::now();
  // Every probe works by passing batches forward, so these tell how far it is.
  training.forward = [&, forward = subject.training.forward](const at::Tensor& inputs) {
    ++progress.passes;
    progress.seconds = monitor::now() - start;
    if (on_progress) on_progress(progress);
    return forward(inputs);
  };
  gallery::ProbeAnswer answer{probe.name, {}, {}};
  if (probe.name == "settle") {
    if (subject.monitor == nullptr) throw std::invalid_argument("nothing can be settled before there is a report");
    torch::Settled settled = settle(*subject.monitor, training, {}, limits);
    answer.words = describe(settled);
    for (torch::Tested& tested : settled.tests) answer.experiments.push_back(std::move(tested.experiment));
    return answer;
  }
  for (const Runner& runner : kRunners) {
    if (runner.name != probe.name) continue;
    answer.experiments = runner.run(training, subject, limits);
    for (const Experiment& experiment : answer.experiments) {
      if (subject.monitor != nullptr) subject.monitor->experiment(experiment);
    }
    return answer;
  }
  throw std::invalid_argument("no way to run the probe " + std::string(probe.name));
}

}  // namespace osler::trainer
