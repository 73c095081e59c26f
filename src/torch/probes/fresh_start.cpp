// Short trainings from the same fresh weights, each with one thing changed.
#include "osler/torch/fresh_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/optim.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "torch/probes/parameters.h"
#include "torch/probes/probe.h"
#include "torch/probes/redraw.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

constexpr std::size_t kStartBatches = 8;
constexpr std::size_t kLastShare = 5;   // the last fifth of a course counts
constexpr double kErrors = 2;           // standard errors that a difference must exceed
constexpr double kLearned = 0.02;       // of the first loss: less is nothing learned
constexpr double kClearlyBetter = 0.2;  // of what the better rate learned

/// A mean with its standard error.
struct Level {
  double mean = std::numeric_limits<double>::infinity();
  double error = 0;
};

Level level_of(const double* first, const double* last) {
  const auto count = static_cast<double>(last - first);
  const double mean = std::accumulate(first, last, 0.0) / count;
  if (!std::isfinite(mean)) return {};
  double squares = 0;
  for (const double* at = first; at != last; ++at) squares += (*at - mean) * (*at - mean);
  return {mean, count > 1 ? std::sqrt(squares / (count - 1) / count) : 0};
}

/// How much lower the second is; zero when that may be chance.
double fall(const Level& from, const Level& to) {
  const double difference = from.mean - to.mean;
  return difference > kErrors * std::hypot(from.error, to.error) ? difference : 0;
}

/// One of the short trainings.
struct Arm {
  std::string name;
  std::string words;
  double factor = 1;  ///< of the learning rate
  bool regularised = true;
  std::vector<double> losses = {};
  Level level = {};
};

Arm at_times(double factor) {
  return {fmt::format("loss-{}-times", factor), fmt::format("{} times the rate", factor), factor};
}

template <typename Options>
bool drop_decay_as(::torch::optim::OptimizerOptions& options) {
  auto* const own = dynamic_cast<Options*>(&options);
  if (own == nullptr || !(own->weight_decay() > 0)) return false;
  own->weight_decay(0);
  return true;
}

/// Takes weight decay and dropout away; false where there was neither.
bool drop_regularisation(const Training& training) {
  namespace optim = ::torch::optim;
  bool any = false;
  for (auto& group : training.optimizer.param_groups()) {
    optim::OptimizerOptions& options = group.options();
    any = drop_decay_as<optim::SGDOptions>(options) || drop_decay_as<optim::AdamOptions>(options) ||
          drop_decay_as<optim::AdamWOptions>(options) || drop_decay_as<optim::RMSpropOptions>(options) ||
          drop_decay_as<optim::AdagradOptions>(options) || any;
  }
  for (const auto& module : training.model.modules(/*include_self=*/false)) {
    if (module->name().find("Dropout") == std::string::npos || !module->is_training()) continue;
    module->eval();
    any = true;
  }
  return any;
}

/// The trainings of one test.
class Trial {
 public:
  Trial(const Training& training, std::size_t steps, Preserved& preserved, const Clock& clock)
      : training_(training), steps_(steps), preserved_(preserved), clock_(clock) {}

  /// Finds the weights to begin with; gives back the parameters for which that is not possible.
  std::vector<std::string> begin() {
    switch_to_training(training_.model);
    now = level_here();
    std::vector<std::string> left;
    if (training_.restart) {
      training_.restart();
    } else {
      left = redraw(training_.model);
    }
    for (const at::Tensor& parameter : training_.model.parameters()) start_.push_back(parameter.detach().clone());
    for (const auto& group : training_.optimizer.param_groups()) rates_.push_back(group.options().get_lr());
    first = level_here();
    return left;
  }

  /// False when the training would not differ from one with regularisation.
  bool train(Arm& arm) {
    preserved_.restore();
    {
      const at::NoGradGuard no_graph;
      std::vector<at::Tensor> parameters = training_.model.parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(start_[i]);
    }
    training_.optimizer.state().clear();
    switch_to_training(training_.model);
    auto& groups = training_.optimizer.param_groups();
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates_[i] * arm.factor);
    if (!arm.regularised && !drop_regularisation(training_)) return false;
    while (arm.losses.size() < steps_) {
      clock_.check();
      const Batch batch = training_.next_batch();
      const double loss = optimizer_step(training_, training_.optimizer, {&batch, 1});
      arm.losses.push_back(loss);
      if (!std::isfinite(loss)) return true;
    }
    const double* const end = arm.losses.data() + arm.losses.size();
    arm.level = level_of(end - std::max<std::size_t>(2, steps_ / kLastShare), end);
    return true;
  }

  /// Whether a training has learned anything.
  [[nodiscard]] bool learned(const Arm& arm) const { return fall(first, arm.level) > kLearned * std::abs(first.mean); }

  [[nodiscard]] double rate() const { return rates_.front(); }

  Level now;    ///< of the weights that the training has come to
  Level first;  ///< of the fresh ones

 private:
  [[nodiscard]] Level level_here() const {
    const at::NoGradGuard no_graph;
    std::vector<double> losses;
    for (std::size_t i = 0; i < kStartBatches; ++i) {
      clock_.check();
      losses.push_back(training_.loss_of(training_.next_batch()).item<double>());
    }
    return level_of(losses.data(), losses.data() + losses.size());
  }

  const Training& training_;
  std::size_t steps_;
  Preserved& preserved_;
  const Clock& clock_;
  std::vector<at::Tensor> start_;
  std::vector<double> rates_;
};

/// The one that came lowest.
const Arm& best_of(const std::vector<Arm>& arms) {
  return *std::min_element(arms.begin(), arms.end(),
                           [](const Arm& a, const Arm& b) { return a.level.mean < b.level.mean; });
}

/// Goes up from a tenth of the rate until it is clear on which side the better rates lie.
std::vector<Arm> train_at_rates(Trial& trial, double largest) {
  std::vector<Arm> arms = {{"loss-tenth", "a tenth of the rate", 0.1}, {"loss-present", "the rate itself", 1}};
  for (Arm& arm : arms) trial.train(arm);
  for (double factor = 10; factor <= largest; factor *= 10) {
    arms.push_back(at_times(factor));
    trial.train(arms.back());
    const bool broken = !std::isfinite(arms.back().level.mean);
    if (broken || (trial.learned(best_of(arms)) && &best_of(arms) != &arms.back())) break;
  }
  return arms;
}

std::string in_words(const Arm& arm) {
  return std::isfinite(arm.level.mean) ? fmt::format("{:.4g} at {}", arm.level.mean, arm.words)
                                       : fmt::format("beyond all numbers at {}", arm.words);
}

/// Whether a training comes clearly further than the one at the present rate.
bool clearly_better(const Trial& trial, const Arm& arm, const Arm& present) {
  return trial.learned(arm) && fall(present.level, arm.level) > kClearlyBetter * (trial.first.mean - arm.level.mean);
}

void judge(const Trial& trial, const std::vector<Arm>& arms, const std::optional<Arm>& free, Experiment& experiment) {
  const Arm& present = arms[1];
  const Arm& best = best_of(arms);
  std::vector<std::string> figures;
  for (const Arm& arm : arms) figures.push_back(in_words(arm));
  experiment.verdict =
      fmt::format("From fresh weights the loss went from {:.4g} to {}", trial.first.mean, fmt::join(figures, ", "));
  const bool freer = free && clearly_better(trial, *free, present);
  if (!trial.learned(best) && !freer) {
    experiment.verdict += ": none of these rates learns anything.";
    return;
  }
  const bool other_rate = clearly_better(trial, best, present);
  experiment.outcome = other_rate || freer ? Outcome::failed : Outcome::passed;
  experiment.verdict +=
      other_rate ? fmt::format(": {} is the better start.", best.words) : ": the rate itself does as well as any.";
  if (freer) {
    experiment.verdict +=
        fmt::format(" Without weight decay and dropout it comes to {:.4g} at the rate itself.", free->level.mean);
  }
  const bool overtaken =
      !std::isfinite(trial.now.mean) || fall(trial.now, best.level) > kLearned * std::abs(trial.now.mean);
  if (overtaken) {
    experiment.verdict += fmt::format(" The whole training has come to no more than {:.4g}.", trial.now.mean);
  }
  experiment.values.push_back({"best-factor", other_rate ? best.factor : 1, {}, {}});
  experiment.values.push_back({"overtakes", overtaken ? 1.0 : 0.0, {}, {}});
  if (free) experiment.values.push_back({"regularisation-hinders", freer ? 1.0 : 0.0, {}, {}});
}

void write_course(const Arm& arm, std::size_t steps, Experiment& experiment) {
  const double margin = kErrors * arm.level.error;
  experiment.values.push_back({arm.name, arm.level.mean, arm.level.mean - margin, arm.level.mean + margin});
  std::vector<double> losses = arm.losses;
  losses.resize(steps, std::numeric_limits<double>::quiet_NaN());
  experiment.columns.push_back({arm.name, std::move(losses)});
}

}  // namespace

Experiment fresh_start(const Training& training, const FreshStartOptions& options, const Limits& limits) {
  if (options.steps < 10) throw std::invalid_argument("fresh-start: steps must be at least 10.");
  if (!(options.largest >= 10)) throw std::invalid_argument("fresh-start: largest must be at least 10.");
  return run_probe(
      "fresh-start", training, limits, [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
        Trial trial(training, options.steps, preserved, clock);
        if (const auto left = trial.begin(); !left.empty()) {
          experiment.verdict =
              fmt::format("How {} began is not known: set Training::restart, and the test can be run.", some_of(left));
          return;
        }
        if (!std::isfinite(trial.first.mean)) {
          experiment.verdict = "Fresh weights have no finite loss: there is nothing to begin with.";
          return;
        }
        const std::vector<Arm> arms = train_at_rates(trial, options.largest);
        std::optional<Arm> free =
            Arm{"loss-unregularised", "the rate itself, without weight decay and dropout", 1, false};
        if (!trial.train(*free)) free.reset();
        experiment.values = {
            {"rate", trial.rate(), {}, {}}, {"now", trial.now.mean, {}, {}}, {"first-loss", trial.first.mean, {}, {}}};
        std::vector<double> steps(options.steps);
        std::iota(steps.begin(), steps.end(), 0.0);
        experiment.columns = {{"step", std::move(steps)}};
        for (const Arm& arm : arms) write_course(arm, options.steps, experiment);
        if (free) write_course(*free, options.steps, experiment);
        judge(trial, arms, free, experiment);
      });
}

}  // namespace osler::torch
