// Trains a recurrent network under Osler's monitor, which also clips its gradients.
#include <iostream>

#include "lstm/lstm.h"
#include "osler/torch/monitor.h"

int main() {
  torch::manual_seed(1);
  examples::Lstm model;
  torch::optim::Adam optimizer(model.parameters(), 5e-3);

  osler::torch::MonitorOptions options;
  options.clip_norm = 1.0;
  options.on_line = [](const std::string& line) { std::cerr << line << "\n"; };
  osler::torch::Monitor monitor(model, optimizer, std::move(options));

  for (int step = 0; step < 300; ++step) {
    const auto [x, y] = examples::sums(32, 8);
    monitor.train_step([&] { return at::mse_loss(model.forward(x), y); });
  }
  std::cout << monitor.summary();
}
