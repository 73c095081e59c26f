// Three lines of Osler in a training that breaks at its fifth step.
#include <torch/torch.h>

#include <iostream>

#include "osler/torch/monitor.h"

int main() {
  torch::manual_seed(1);
  torch::nn::Linear model(4, 2);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  osler::torch::Monitor monitor(*model, optimizer);
  for (int step = 0; step < 20; ++step) {
    const torch::Tensor x = torch::randn({8, 4});
    monitor.train_step([&] {
      const torch::Tensor out = model->forward(x).square().mean();
      return step == 4 ? torch::log(out * 0) : out;
    });
  }
  std::cout << monitor.summary();
  return monitor.skipped() == 1 ? 0 : 1;
}
