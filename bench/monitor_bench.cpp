// What watching costs: steps of the four examples without and with the monitor, in turns, block by block.
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cnn/cnn.h"
#include "gpt/gpt.h"
#include "lstm/lstm.h"
#include "mlp/mlp.h"
#include "osler/torch/monitor.h"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// One way of training: something that does one step.
struct Candidate {
  std::string name;
  std::function<void()> step;
  std::vector<double> seconds;
};

/// A model with its optimizer and, when it is watched, its monitor.
template <typename Model>
struct Trainee {
  Model model;
  torch::optim::Adam optimizer{model.parameters(), 1e-3};
  std::unique_ptr<osler::torch::Monitor> monitor;
};

template <typename Model, typename Batch, typename Loss>
Candidate candidate(const std::string& name, Batch batch, Loss loss_of,
                    const std::function<void(osler::torch::MonitorOptions&)>* configure) {
  torch::manual_seed(1);
  auto trainee = std::make_shared<Trainee<Model>>();
  if (configure != nullptr) {
    osler::torch::MonitorOptions options;
    (*configure)(options);
    trainee->monitor = std::make_unique<osler::torch::Monitor>(trainee->model, trainee->optimizer, std::move(options));
  }
  const auto data = std::make_shared<std::pair<at::Tensor, at::Tensor>>(batch());
  return {name,
          [=] {
            const auto compute = [&] { return loss_of(trainee->model, data->first, data->second); };
            if (trainee->monitor) {
              trainee->monitor->train_step(compute);
              return;
            }
            trainee->optimizer.zero_grad();
            compute().backward();
            trainee->optimizer.step();
          },
          {}};
}

template <typename Model, typename Batch, typename Loss>
void compare(const std::string& example, int blocks, int block, Batch batch, Loss loss) {
  using Options = osler::torch::MonitorOptions;
  const std::function<void(Options&)> standard = [](Options&) {};
  const std::function<void(Options&)> every_step = [](Options& options) {
    options.statistics_every = 1;
    options.trace_every = -1;
  };
  const std::function<void(Options&)> traced = [](Options& options) { options.trace_every = 1; };
  const std::function<void(Options&)> always = [](Options& options) { options.trace_always = true; };
  std::vector<Candidate> candidates;
  candidates.push_back(candidate<Model>("without", batch, loss, nullptr));
  candidates.push_back(candidate<Model>("default", batch, loss, &standard));
  candidates.push_back(candidate<Model>("statistics on every step", batch, loss, &every_step));
  candidates.push_back(candidate<Model>("activations on every step", batch, loss, &traced));
  candidates.push_back(candidate<Model>("origin traced on every step", batch, loss, &always));
  candidates.push_back(candidate<Model>("LibTorch's anomaly mode", batch, loss, nullptr));
  for (int i = -2; i < blocks; ++i) {
    for (Candidate& each : candidates) {
      const bool anomaly = each.name.find("anomaly") != std::string::npos;
      torch::autograd::AnomalyMode::set_enabled(anomaly);
      const int steps = anomaly ? std::max(1, block / 20) : block;  // it is some fifty times slower
      const double before = now();
      for (int step = 0; step < steps; ++step) each.step();
      if (i >= 0) each.seconds.push_back((now() - before) / steps);
      torch::autograd::AnomalyMode::set_enabled(false);
    }
  }
  const double base = median(candidates.front().seconds);
  std::printf("%s: %.3f ms a step without\n", example.c_str(), 1e3 * base);
  for (const Candidate& each : candidates) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < each.seconds.size(); ++i)
      ratios.push_back(each.seconds[i] / candidates.front().seconds[i]);
    std::printf("  %-28s %8.3f ms  %+6.1f %%\n", each.name.c_str(), 1e3 * median(each.seconds),
                100 * (median(ratios) - 1));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 21;
  const int block = argc > 2 ? std::atoi(argv[2]) : 25;
  const auto classify = [](auto& model, const at::Tensor& x, const at::Tensor& y) {
    return at::cross_entropy_loss(model.forward(x), y);
  };
  compare<examples::Mlp>(
      "mlp", blocks, block, [] { return examples::clouds(64); }, classify);
  compare<examples::Cnn>(
      "cnn", blocks, block, [] { return examples::stripes(32); }, classify);
  compare<examples::Lstm>(
      "lstm", blocks, block, [] { return examples::sums(32); },
      [](auto& model, const at::Tensor& x, const at::Tensor& y) { return at::mse_loss(model.forward(x), y); });
  compare<examples::Gpt>(
      "gpt", blocks, block, [] { return examples::pieces(16); },
      [](auto& model, const at::Tensor& x, const at::Tensor& y) {
        return examples::next_character_loss(model.forward(x), y);
      });
}
