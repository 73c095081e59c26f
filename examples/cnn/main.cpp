// Trains a convolutional network under Osler's monitor, with validation and modes checked.
#include <iostream>

#include "cnn/cnn.h"
#include "osler/torch/monitor.h"

int main() {
  torch::manual_seed(1);
  examples::Cnn model;
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));

  osler::torch::MonitorOptions options;
  options.classes = 4;
  options.on_line = [](const std::string& line) { std::cerr << line << "\n"; };
  osler::torch::Monitor monitor(model, optimizer, std::move(options));

  for (int epoch = 0; epoch < 5; ++epoch) {
    model.train();
    for (int step = 0; step < 50; ++step) {
      const auto [x, y] = examples::stripes(32);
      monitor.train_step([&] { return at::cross_entropy_loss(model.forward(x), y); });
    }
    model.eval();
    const torch::NoGradGuard no_graph;
    const auto [x, y] = examples::stripes(256);
    const at::Tensor output = model.forward(x);
    monitor.validation_batch(output);
    monitor.validation(at::cross_entropy_loss(output, y).item<double>(),
                       {{"accuracy", output.argmax(1).eq(y).to(at::kFloat).mean().item<double>()}});
    monitor.epoch(epoch);
  }
  std::cout << monitor.summary();
}
