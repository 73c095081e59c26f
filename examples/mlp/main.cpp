// Trains a multilayer perceptron under Osler's monitor.
#include <iostream>

#include "mlp/mlp.h"
#include "osler/torch/monitor.h"

int main() {
  torch::manual_seed(1);
  examples::Mlp model;
  torch::optim::Adam optimizer(model.parameters(), 1e-4);

  osler::torch::MonitorOptions options;
  options.classes = 10;
  options.batch_size = 64;
  options.on_line = [](const std::string& line) { std::cerr << line << "\n"; };
  osler::torch::Monitor monitor(model, optimizer, std::move(options));

  for (int step = 0; step < 200; ++step) {
    const auto [x, y] = examples::clouds(64);
    monitor.batch(x, y);
    monitor.train_step([&] { return at::cross_entropy_loss(model.forward(x), y); });
  }
  std::cout << monitor.summary();
}
