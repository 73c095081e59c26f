// What watching costs: steps of the four examples without and with the monitor, in turns, block by block; then what a
// NaN costs after these healthy steps. The same comparison differs by some per cent from one process to the next, so
// the blocks come from several, one after the other. Before that, what the first thousand steps cost from the first one
// on, with the close looks at the beginning: these may take 1 % of them or 2 seconds, whichever is more.
//
//     osler_monitor_bench [blocks] [steps in a block] [example]...
//
// With 0 blocks only the first thousand steps. The exit code is 1 when the close looks took more than they may.
#include <sys/wait.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
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
constexpr std::size_t kDefault = 2;  // its place among the ways to train
constexpr int kUntimed = 3;          // steps at the beginning of a block, until the caches are its own

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
std::string break_down(Candidate& watched) {
  constexpr std::int64_t kHealthy = 500;
  while (watched.monitor->steps() < kHealthy) watched.step(false);
  const std::int64_t healthy = watched.monitor->steps();
  const double seconds = seconds_of(watched, 1, true);
  std::ostringstream text;
  text << "a NaN after " << healthy << " healthy steps: " << std::setprecision(3) << 1e3 * seconds << " ms, "
       << seconds / median(watched.without) << " healthy steps; "
       << (watched.monitor->origin() ? describe(*watched.monitor->origin()) : "no origin");
  return text.str();
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
      {"default, every batch shown", [](MonitorOptions&) {}, true},
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

/// What was measured of one way of training, in all processes.
struct Measured {
  std::string name = {};
  std::vector<double> seconds = {};
  std::vector<double> ratios = {};
  std::vector<double> own_shares = {};  // what the monitor itself says, one for each process
};

struct Comparison {
  int threads = 0;
  std::vector<Measured> ways = {};
  std::string broken = {};  // what the last process says of a broken step
};

/// Writes what a process has measured for the one that started it, a way of training in each line.
void hand_over(std::ostream& out, const std::vector<Candidate>& all, const std::string& broken) {
  out.precision(17);
  out << at::get_num_threads() << "\n" << broken << "\n";
  for (const Candidate& each : all) {
    out << each.name << "\n" << (each.monitor != nullptr ? own_share(*each.monitor) : -1.0);
    for (std::size_t i = 0; i < each.seconds.size(); ++i) out << " " << each.seconds[i] << " " << each.without[i];
    out << "\n";
  }
}

/// Adds what `hand_over` wrote; false when it is not whole.
bool take_over(std::istream& in, Comparison& comparison) {
  std::string line;
  if (!(in >> comparison.threads) || !std::getline(in, line) || !std::getline(in, comparison.broken)) return false;
  for (std::size_t k = 0; std::getline(in, line); ++k) {
    if (k == comparison.ways.size()) comparison.ways.push_back({line});
    Measured& way = comparison.ways[k];
    if (!std::getline(in, line)) return false;
    std::istringstream numbers(line);
    double share = 0;
    numbers >> share;
    if (share >= 0) way.own_shares.push_back(share);
    for (double seconds = 0, without = 0; numbers >> seconds >> without;) {
      way.seconds.push_back(seconds);
      way.ratios.push_back(seconds / without);
    }
  }
  return !comparison.ways.empty();
}

/// Runs `measure` in a process of its own and returns what it wrote.
std::string in_a_process(const std::function<void(std::ostream&)>& measure) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) return "";
  const pid_t child = fork();
  if (child < 0) return "";
  if (child == 0) {
    std::ostringstream out;
    measure(out);
    const std::string text = out.str();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) _exit(1);
      at += static_cast<std::size_t>(written);
    }
    _exit(0);  // nothing of the parent's is to be torn down twice
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> piece = {};
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

void print(const Comparison& comparison) {
  std::printf("  %-28s %11s %14s %24s %14s\n", "", "median step", "median ratio", "within, 95 of 100 times",
              "its own count");
  for (const Measured& each : comparison.ways) {
    const auto [low, high] = median_interval(each.ratios);
    std::printf("  %-28s %8.3f ms   %+9.1f %%     %+9.1f to %+.1f %%", each.name.c_str(), 1e3 * median(each.seconds),
                100 * (median(each.ratios) - 1), 100 * (low - 1), 100 * (high - 1));
    const auto processes = static_cast<double>(each.own_shares.size());
    if (processes > 0) {
      std::printf(" %10.1f %%", 100 * std::accumulate(each.own_shares.begin(), each.own_shares.end(), 0.0) / processes);
    }
    std::printf("\n");
  }
  std::printf("  %s\n", comparison.broken.c_str());
}

/// A training of a thousand steps from the first one on.
struct Beginning {
  double seconds = 0;
  double own = 0;    // by the monitor's own count
  double early = 0;  // of it, the close looks at the beginning
};

constexpr int kBeginning = 1000;

template <typename Model, typename Batch, typename Loss>
Beginning begun(Batch batch, Loss loss_of, bool watched) {
  std::istringstream measured(in_a_process([&](std::ostream& out) {
    const auto configure = watched ? std::function<void(MonitorOptions&)>([](MonitorOptions& options) {
      options.on_finding = [](const osler::Observation&) {};  // so that it diagnoses
    })
                                   : nullptr;
    Candidate one = candidate<Model>("", batch, loss_of, configure, watched);
    const double seconds = kBeginning * seconds_of(one, kBeginning);
    const osler::torch::StepTimes times = watched ? one.monitor->times() : osler::torch::StepTimes{};
    out.precision(17);
    out << seconds << " " << times.monitor << " " << times.early;
  }));
  Beginning made;
  measured >> made.seconds >> made.own >> made.early;
  return made;
}

/// Tells what the beginning costs; whether the close looks kept to what they may take.
template <typename Model, typename Batch, typename Loss>
bool tell_beginning(const std::string& example, Batch batch, Loss loss) {
  constexpr int kPairs = 3;
  constexpr double kMostSeconds = 2;
  constexpr double kMostShare = 0.01;
  std::vector<double> without;
  std::vector<double> extra;
  std::vector<double> own;
  std::vector<double> early;
  for (int i = 0; i < kPairs; ++i) {
    const Beginning alone = begun<Model>(batch, loss, false);
    const Beginning watched = begun<Model>(batch, loss, true);
    if (alone.seconds <= 0 || watched.seconds <= 0) {
      std::fprintf(stderr, "%s: a process that measured has failed\n", example.c_str());
      return false;
    }
    without.push_back(alone.seconds);
    extra.push_back(watched.seconds - alone.seconds);
    own.push_back(watched.own);
    early.push_back(watched.early);
  }
  const double most = std::max(kMostSeconds, kMostShare * median(without));
  const double worst = *std::max_element(early.begin(), early.end());
  std::printf(
      "%s: the first %d steps take %.2f s without, %+.2f s with (%+.1f %%); by its own count %.2f s, of which "
      "close looks %.3f s of at most %.2f s%s\n",
      example.c_str(), kBeginning, median(without), median(extra), 100 * median(extra) / median(without), median(own),
      worst, most, worst > most ? ": TOO MUCH" : "");
  std::fflush(stdout);
  return worst <= most;
}

template <typename Model, typename Batch, typename Loss>
void compare(const std::string& example, int blocks, int block, Batch batch, Loss loss) {
  constexpr int kProcesses = 8;
  Comparison comparison;
  for (int process = 0; process < kProcesses; ++process) {
    std::istringstream measured(in_a_process([&](std::ostream& out) {
      std::vector<Candidate> all = candidates<Model>(batch, loss, static_cast<std::size_t>(process) * 3);
      take_turns(all, (blocks + kProcesses - 1) / kProcesses, block);
      hand_over(out, all, process + 1 == kProcesses ? break_down(all[kDefault]) : "");
    }));
    if (!take_over(measured, comparison)) {
      std::fprintf(stderr, "%s: a process that measured has failed\n", example.c_str());
      return;
    }
  }
  std::int64_t numbers = 0;
  for (const at::Tensor& parameter : Model().parameters()) numbers += parameter.numel();
  std::printf("%s: %.3f ms a step without, %lld parameters, %d threads\n", example.c_str(),
              1e3 * median(comparison.ways.front().seconds), static_cast<long long>(numbers), comparison.threads);
  print(comparison);
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
  bool kept = true;
  const auto measure = [&](const std::string& example, auto model, auto batch, auto loss) {
    using Model = typename decltype(model)::type;
    if (!wanted(example)) return;
    kept = tell_beginning<Model>(example, batch, loss) && kept;
    if (blocks > 0) compare<Model>(example, blocks, block, batch, loss);
  };
  measure(
      "mlp", std::type_identity<examples::Mlp>{}, [] { return examples::clouds(64); }, classify);
  measure(
      "cnn", std::type_identity<examples::Cnn>{}, [] { return examples::stripes(32); }, classify);
  measure(
      "lstm", std::type_identity<examples::Lstm>{}, [] { return examples::sums(32); }, regress);
  measure(
      "gpt", std::type_identity<examples::Gpt>{}, [] { return examples::pieces(16); }, continue_text);
  return kept ? 0 : 1;
}
