// Runs Osler's probes on a small training and prints what each found:
//   osler_example_probes [RATE] [RUN.osler]
// With the usual rate of 0.001 all is well; 10 ruins it.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mlp/mlp.h"
#include "osler/report/render.h"
#include "osler/torch/checkup.h"
#include "osler/torch/curvature.h"
#include "osler/torch/fresh_start.h"
#include "osler/torch/initialisation.h"
#include "osler/torch/lr_range.h"
#include "osler/torch/monitor.h"
#include "osler/torch/noise_scale.h"
#include "osler/torch/overfit.h"
#include "osler/torch/settle.h"
#include "osler/torch/sharpness.h"

int main(int count, char** arguments) {
  const double rate = count > 1 ? std::atof(arguments[1]) : 1e-3;
  torch::manual_seed(1);
  examples::Mlp model;
  torch::optim::Adam optimizer(model.parameters(), rate);

  // What a probe needs of a training. The forward pass also tells how far a probe is.
  long passes = 0;
  osler::torch::Training training{model, optimizer, {}, {}, {}, {}, 10, {}};
  training.forward = [&](const at::Tensor& x) {
    if (++passes % 100 == 0) std::cerr << "\r" << passes << " passes" << std::flush;
    return model.forward(x);
  };
  training.loss = [](const at::Tensor& y, const at::Tensor& labels) { return at::cross_entropy_loss(y, labels); };
  training.next_batch = [] {
    const auto [x, y] = examples::clouds(64);
    return osler::torch::Batch{x, y};
  };
  training.next_validation_batch = training.next_batch;

  std::optional<osler::torch::Monitor> monitor;
  std::vector<osler::Experiment> found;  // before there was one
  const auto tell = [&](const osler::Experiment& experiment) {
    std::cerr << "\r";
    std::cout << osler::render_text(experiment);
    monitor ? monitor->experiment(experiment) : found.push_back(experiment);
  };

  std::cout << "Before the training\n";
  tell(osler::torch::checkup(training));
  tell(osler::torch::initialisation_check(model));
  tell(osler::torch::overfit_one_batch(training));
  tell(osler::torch::signal_propagation(training));
  tell(osler::torch::update_ratios(training));
  tell(osler::torch::lr_range_test(training));

  // After the probes: only one at a time can look at activations.
  osler::torch::MonitorOptions options;
  options.classes = 10;
  if (count > 2) options.run_file = arguments[2];
  monitor.emplace(model, optimizer, std::move(options));
  for (const osler::Experiment& experiment : found) monitor->experiment(experiment);
  for (int step = 0; step < 300; ++step) {
    const auto [x, y] = examples::clouds(64);
    monitor->batch(x, y);
    monitor->train_step([&] { return at::cross_entropy_loss(model.forward(x), y); });
  }

  std::cout << "\nAfter it\n";
  tell(osler::torch::gradient_noise_scale(training));
  tell(osler::torch::sharpness(training));
  tell(osler::torch::loss_surface(training));
  tell(osler::torch::curvature(training));
  tell(osler::torch::fresh_start(training));

  std::cout << "\nWhat it is\n"
            << osler::torch::describe(osler::torch::settle(*monitor, training)) << monitor->summary();
}
