// Schedules: the learning rate of every step as a share of the optimizer's own, by formula.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace osler::torch {

/// What a schedule asks for at one step.
struct ScheduledSetting {
  double rate = 1;                                ///< share of the learning rate that the optimizer was made with
  std::optional<double> momentum = std::nullopt;  ///< momentum, or Adam's first beta; nothing: as it is

  friend bool operator==(const ScheduledSetting&, const ScheduledSetting&) = default;
};

/// A learning rate as a function of the step alone. Steps count from 0, the first update; a schedule that has an end
/// stays at its last value afterwards. The makers below throw std::invalid_argument when their numbers make no sense.
class Schedule {
 public:
  using Formula = std::function<ScheduledSetting(std::int64_t step)>;

  /// The rate stays as it is.
  Schedule();
  /// A formula of one's own. `description` names it and its numbers: a checkpoint is refused under another one.
  Schedule(std::string description, Formula formula);

  /// The setting at a step; steps before the first count as the first.
  [[nodiscard]] ScheduledSetting at(std::int64_t step) const;
  /// "cosine(steps=1000, floor=0.1)".
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  std::string description_;
  Formula formula_;
};

/// Times `factor` after every `every` steps.
struct StepDecay {
  std::int64_t every = 0;
  double factor = 0.1;
};
[[nodiscard]] Schedule step_decay(const StepDecay& shape);

/// Times `factor` at each milestone.
struct MultiStepDecay {
  std::vector<std::int64_t> milestones;  ///< steps, ascending
  double factor = 0.1;
};
[[nodiscard]] Schedule multi_step_decay(const MultiStepDecay& shape);

/// Times `factor` at every step.
struct ExponentialDecay {
  double factor = 0.999;
};
[[nodiscard]] Schedule exponential_decay(const ExponentialDecay& shape);

/// Down to the floor as (1 - step/steps)^power; a straight line with the power 1.
struct PolynomialDecay {
  std::int64_t steps = 0;
  double power = 1;
  double floor = 0;  ///< share of the rate that is left at the end
};
[[nodiscard]] Schedule polynomial_decay(const PolynomialDecay& shape);

/// Down as sqrt(timescale / (timescale + step)). After a warm-up of `timescale` steps from 0 this is the schedule of
/// the Transformer (Vaswani et al. 2017).
struct InverseSquareRootDecay {
  std::int64_t timescale = 0;
};
[[nodiscard]] Schedule inverse_square_root_decay(const InverseSquareRootDecay& shape);

/// Down to the floor along half a cosine (Loshchilov and Hutter 2017).
struct CosineDecay {
  std::int64_t steps = 0;
  double floor = 0;  ///< share of the rate that is left at the end
};
[[nodiscard]] Schedule cosine_decay(const CosineDecay& shape);

/// The cosine again and again, each time `stretch` as long as before (Loshchilov and Hutter 2017).
struct CosineRestarts {
  std::int64_t first = 0;    ///< steps of the first descent
  std::int64_t stretch = 1;  ///< each descent is this many times as long as the one before
  double floor = 0;
};
[[nodiscard]] Schedule cosine_restarts(const CosineRestarts& shape);

/// Linearly from `start` up to the schedule `after`, which begins when the warm-up is over.
struct Warmup {
  std::int64_t steps = 0;
  double start = 0.01;  ///< share at the first step; with 0 the first step changes nothing
};
[[nodiscard]] Schedule warmup(const Warmup& shape, const Schedule& after);

/// Warm-up, then a cosine down to the floor: what most large trainings use.
struct WarmupCosine {
  std::int64_t warmup = 0;
  std::int64_t steps = 0;  ///< of the whole training, warm-up and all
  double floor = 0.1;
  double start = 0.01;
};
[[nodiscard]] Schedule warmup_cosine(const WarmupCosine& shape);

/// Momentum that moves against the rate: `high` where the rate is low.
struct MomentumCycle {
  double low = 0.85;
  double high = 0.95;
};

/// One rise to the optimizer's rate and one long fall far below it (Smith and Topin 2018). The optimizer's own rate is
/// the highest.
struct OneCycle {
  std::int64_t steps = 0;       ///< of the whole training
  double rise = 0.3;            ///< share of the steps in which the rate rises
  double start = 1.0 / 25;      ///< share of the highest rate at the first step
  double end = 1.0 / 25 / 1e4;  ///< and at the last
  bool linear = false;          ///< straight lines instead of cosines
  bool three_phases = false;    ///< fall back as fast as it rose, then on to the end
  std::optional<MomentumCycle> momentum = MomentumCycle{};
};
[[nodiscard]] Schedule one_cycle(const OneCycle& shape);

/// How the height of a cycle changes from one to the next.
enum class CycleMode {
  triangular,         ///< not at all
  triangular_halved,  ///< half as high each time: PyTorch's triangular2
  exponential_range,  ///< times `factor` at every step: PyTorch's exp_range
};

/// Up and down without end between a low rate and the optimizer's own, which is the highest (Smith 2017).
struct Cyclical {
  std::int64_t up = 2000;  ///< steps from low to high
  std::int64_t down = 0;   ///< steps back; 0: as many as up
  double low = 0.1;        ///< share of the highest rate
  CycleMode mode = CycleMode::triangular;
  double factor = 1;  ///< of exponential_range
  std::optional<MomentumCycle> momentum = std::nullopt;
};
[[nodiscard]] Schedule cyclical(const Cyclical& shape);

}  // namespace osler::torch
