// What watching costs: steps of the four examples without and with the monitor, in turns, block by block; then what a
// NaN costs after these healthy steps.
//
//     osler_monitor_bench [blocks] [steps in a block] [example]...
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cnn/cnn.h"
#include "gpt/gpt.h"
#include "lstm/lstm.h"
#include "mlp/mlp.h"
#include "osler/torch/monitor.h"

namespace {

using osler::torch::MonitorOptions;

constexpr int kBatches = 64;
constexpr int kUntimed = 3;  // steps at the beginning of a block, until the caches are its own

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Between which values the median lies in 95 of 100 measurements, by the order of the values alone.
std::pair<double, double> median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto reach = static_cast<std::ptrdiff_t>(0.98 * std::sqrt(count) + 1);
  const auto middle = static_cast<std::ptrdiff_t>(values.size() / 2);
  const auto last = static_cast<std::ptrdiff_t>(values.size()) - 1;
  return {values[static_cast<std::size_t>(std::max<std::ptrdiff_t>(middle - reach, 0))],
          values[static_cast<std::size_t>(std::min(middle + reach, last))]};
}

/// A model with its optimizer and, when it is watched, its monitor.
template <typename Model>
struct Trainee {
  Model model;
  torch::optim::Adam optimizer{model.parameters(), 1e-3};
  std::unique_ptr<osler::torch::Monitor> monitor;
};

/// One way of training: something that does one step, healthy or with a NaN in its loss.
struct Candidate {
  std::string name = {};
  std::function<void(bool broken)> step = {};
  osler::torch::Monitor* monitor = nullptr;
  bool anomaly_mode = false;
  bool seldom = false;  // it is so much dearer that a few blocks show it
  std::vector<double> seconds = {};
  std::vector<double> without = {};  // the blocks beside them
};

template <typename Model, typename Batch, typename Loss>
Candidate candidate(const std::string& name, Batch batch, Loss loss_of,
                    const std::function<void(MonitorOptions&)>& configure, bool checks_batches) {
  torch::manual_seed(1);
  auto trainee = std::make_shared<Trainee<Model>>();
  if (configure) {
    MonitorOptions options;
    configure(options);
    trainee->monitor = std::make_unique<osler::torch::Monitor>(trainee->model, trainee->optimizer, std::move(options));
  }
  // Drawn beforehand, because drawing is not what is measured; many, because a batch seen again and again is memorised,
  // and then its gradients are nothing that one meets in training.
  std::vector<std::pair<at::Tensor, at::Tensor>> data;
  for (int i = 0; i < kBatches; ++i) data.push_back(batch());
  return {name,
          [=, turn = std::size_t{0}](bool broken) mutable {
            const auto& [inputs, targets] = data[turn++ % data.size()];
            const auto compute = [&, &inputs = inputs, &targets = targets] {
              const at::Tensor loss = loss_of(trainee->model, inputs, targets);
              return broken ? at::log(loss - loss) : loss;
            };
            if (trainee->monitor) {
              if (checks_batches) trainee->monitor->batch(inputs, targets);
              trainee->monitor->train_step(compute);
              return;
            }
            trainee->optimizer.zero_grad();
            compute().backward();
            if (!broken) trainee->optimizer.step();
          },
          trainee->monitor.get()};
}

/// What the monitor itself says it takes of the training's time. The others' turns are waiting to it.
double own_share(const osler::torch::Monitor& monitor) {
  const osler::torch::StepTimes times = monitor.times();
  return times.monitor / (times.forward + times.backward + times.optimizer);
}

double seconds_of(Candidate& each, int steps, bool broken = false) {
  torch::autograd::AnomalyMode::set_enabled(each.anomaly_mode);
  const double before = now();
  for (int step = 0; step < steps; ++step) each.step(broken);
  const double seconds = now() - before;
  torch::autograd::AnomalyMode::set_enabled(false);
  return seconds / steps;
}

/// The broken step beside a healthy one: what the search for the origin costs, once, and what it says.
void break_down(Candidate& watched, double usual) {
  constexpr std::int64_t kHealthy = 500;
  while (watched.monitor->steps() < kHealthy) watched.step(false);
  const std::int64_t healthy = watched.monitor->steps();
  const double seconds = seconds_of(watched, 1, true);
  std::printf("  a NaN after %lld healthy steps: %.3f ms, %.1f healthy steps; %s\n", static_cast<long long>(healthy),
              1e3 * seconds, seconds / usual,
              watched.monitor->origin() ? describe(*watched.monitor->origin()).c_str() : "no origin");
}

/// Everyone who trains this model, from the same beginning, in this order; made in an order that begins at `first`,
/// because the places in memory that are given out first are the best.
template <typename Model, typename Batch, typename Loss>
std::vector<Candidate> candidates(Batch batch, Loss loss, std::size_t first) {
  struct Way {
    std::string name = {};
    std::function<void(MonitorOptions&)> configure = {};
    bool checks_batches = false;
  };
  const std::vector<Way> ways = {
      {"without", {}},
      {"without, a second time", {}},
      {"default", [](MonitorOptions&) {}},
      {"default, and every batch", [](MonitorOptions&) {}, true},
      {"nothing sampled",
       [](MonitorOptions& options) {
         options.budget = 0;
         options.statistics_every = -1;
         options.trace_every = -1;
       }},
      {"statistics on every step",
       [](MonitorOptions& options) {
         options.statistics_every = 1;
         options.trace_every = -1;
       }},
      {"activations on every step",
       [](MonitorOptions& options) {
         options.statistics_every = -1;
         options.trace_every = 1;
       }},
      {"origin traced on every step", [](MonitorOptions& options) { options.trace_always = true; }},
      {"LibTorch's anomaly mode", {}},
  };
  constexpr std::size_t kOften = 6;  // the first so many take part in every round
  std::vector<Candidate> all(ways.size());
  for (std::size_t k = 0; k < ways.size(); ++k) {
    const std::size_t next = (first + k) % ways.size();
    all[next] = candidate<Model>(ways[next].name, batch, loss, ways[next].configure, ways[next].checks_batches);
    all[next].seldom = next >= kOften;
  }
  all.back().anomaly_mode = true;
  return all;
}

/// Trains one block after the other with everyone in turns.
void take_turns(std::vector<Candidate>& all, int blocks, int block) {
  for (int i = -2; i < blocks; ++i) {
    std::vector<double> round(all.size(), 0.0);
    for (std::size_t k = 0; k < all.size(); ++k) {
      // Everyone has every neighbour in turn: what runs before leaves its traces in the caches.
      const std::size_t turn = (k + static_cast<std::size_t>(i + 2)) % all.size();
      if (all[turn].seldom && i % 5 != 0) continue;
      if (!all[turn].anomaly_mode) seconds_of(all[turn], kUntimed);
      round[turn] = seconds_of(all[turn], all[turn].anomaly_mode ? std::max(1, block / 20) : block);
    }
    for (std::size_t k = 0; k < all.size() && i >= 0; ++k) {
      if (round[k] == 0) continue;
      all[k].seconds.push_back(round[k]);
      all[k].without.push_back(round.front());
    }
  }
}

void print(const std::vector<Candidate>& all) {
  std::printf("  %-28s %11s %14s %24s %14s\n", "", "median step", "median ratio", "within, 95 of 100 times",
              "its own count");
  for (const Candidate& each : all) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < each.seconds.size(); ++i) ratios.push_back(each.seconds[i] / each.without[i]);
    const auto [low, high] = median_interval(ratios);
    std::printf("  %-28s %8.3f ms   %+9.1f %%     %+9.1f to %+.1f %%", each.name.c_str(), 1e3 * median(each.seconds),
                100 * (median(ratios) - 1), 100 * (low - 1), 100 * (high - 1));
    if (each.monitor != nullptr) std::printf(" %10.1f %%", 100 * own_share(*each.monitor));
    std::printf("\n");
  }
}

template <typename Model, typename Batch, typename Loss>
void compare(const std::string& example, int blocks, int block, Batch batch, Loss loss) {
  // Where in memory a model happens to lie decides some per cent of its speed, for as long as it lives. So everyone
  // begins anew several times, and what was allocated in between moves them about.
  constexpr int kBeginnings = 8;
  std::vector<at::Tensor> in_between;
  std::vector<Candidate> all;
  for (int beginning = 0; beginning < kBeginnings; ++beginning) {
    std::vector<Candidate> anew = candidates<Model>(batch, loss, static_cast<std::size_t>(beginning) * 3);
    for (std::size_t k = 0; k < all.size(); ++k) {
      anew[k].seconds = std::move(all[k].seconds);
      anew[k].without = std::move(all[k].without);
    }
    all = std::move(anew);
    take_turns(all, (blocks + kBeginnings - 1) / kBeginnings, block);
    in_between.push_back(at::empty({at::randint(1 << 10, 1 << 16, {1}).item<std::int64_t>()}));
  }
  std::int64_t numbers = 0;
  for (const at::Tensor& parameter : Model().parameters()) numbers += parameter.numel();
  std::printf("%s: %.3f ms a step without, %lld parameters, %d threads\n", example.c_str(),
              1e3 * median(all.front().seconds), static_cast<long long>(numbers), at::get_num_threads());
  print(all);
  break_down(all[2], median(all.front().seconds));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 120;
  const int block = argc > 2 ? std::atoi(argv[2]) : 25;
  const std::vector<std::string> only(argv + std::min(argc, 3), argv + argc);
  const auto wanted = [&](const std::string& example) {
    return only.empty() || std::find(only.begin(), only.end(), example) != only.end();
  };
  const auto classify = [](auto& model, const at::Tensor& x, const at::Tensor& y) {
    return at::cross_entropy_loss(model.forward(x), y);
  };
  const auto regress = [](auto& model, const at::Tensor& x, const at::Tensor& y) {
    return at::mse_loss(model.forward(x), y);
  };
  const auto continue_text = [](auto& model, const at::Tensor& x, const at::Tensor& y) {
    return examples::next_character_loss(model.forward(x), y);
  };
  if (wanted("mlp"))
    compare<examples::Mlp>(
        "mlp", blocks, block, [] { return examples::clouds(64); }, classify);
  if (wanted("cnn"))
    compare<examples::Cnn>(
        "cnn", blocks, block, [] { return examples::stripes(32); }, classify);
  if (wanted("lstm"))
    compare<examples::Lstm>(
        "lstm", blocks, block, [] { return examples::sums(32); }, regress);
  if (wanted("gpt"))
    compare<examples::Gpt>(
        "gpt", blocks, block, [] { return examples::pieces(16); }, continue_text);
}
