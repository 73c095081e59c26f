// Facts of steps, as findings ask for them.
#include "monitor/step_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "monitor/clock.h"
#include "run/series_names.h"

namespace osler::monitor {
namespace {

constexpr std::size_t kPairsKept = 16;  // gradient pairs that the noise scale is estimated from
/// Gradients are compared less often than measured, and the less often the longer the training lasts.
constexpr std::int64_t kStepsBetweenPairs = 8;
constexpr std::int64_t kPairsPerDoubling = 64;  // about so many for each doubling of the steps

}  // namespace

void StepRecord::step(Recorder& recorder, std::int64_t step, double loss, std::optional<double> norm) {
  recorder.scalar(step, "train/loss", loss);
  tally_.step(step, loss);
  if (!norm) return;
  recorder.scalar(step, "grad_norm", *norm);
  tally_.norm(*norm);
}

void StepRecord::state(Recorder& recorder, std::int64_t step, const std::vector<double>& rates,
                       std::optional<bool> training) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    recorder.scalar(step, rates.size() == 1 ? "lr" : "lr/group" + std::to_string(i), rates[i]);
  }
  if (!rates.empty()) tally_.rate(rates.front());
  constexpr std::int64_t kSeldom = 64;  // the mode hardly ever changes: told when it does, and now and then
  if (!training || (told_training_ == training && step % kSeldom != 0)) return;
  recorder.scalar(step, series_name::kCheckEvalModeInTraining, *training ? 0 : 1);
  told_training_ = training;
}

void StepRecord::gradients_cleared(Recorder& recorder, std::int64_t step, bool cleared) {
  if (told_cleared_ == cleared) return;
  told_cleared_ = cleared;
  recorder.scalar(step, series_name::kCheckGradientsCleared, cleared ? 1 : 0);
}

void StepRecord::parameters(Recorder& recorder, std::int64_t step, const std::vector<ParameterState>& states) {
  const bool known = seen(step) >= kStepsToKnow;
  // Hardly ever is anything new, and then no names need be put together.
  std::vector<std::uint8_t> told(1, known ? 1 : 0);
  told.reserve(states.size() + 1);
  for (const ParameterState& state : states) told.push_back((state.trainable ? 1 : 0) | (state.left_out ? 2 : 0));
  if (told == told_states_) return;
  told_states_ = std::move(told);
  const auto tell = [&](const std::string& id, double value) {
    // What was never wrong need not be told of every parameter.
    const auto before = told_parameters_.find(id);
    if (before == told_parameters_.end() ? value == 0 : before->second == value) return;
    told_parameters_[id] = value;
    recorder.scalar(step, id, value);
  };
  double left_out = 0;
  for (const ParameterState& state : states) {
    tell(series_name::completed(series_name::kParameterFrozenOf, state.name), state.trainable ? 0 : 1);
    if (known) tell(series_name::completed(series_name::kParameterNotOptimizedOf, state.name), state.left_out ? 1 : 0);
    if (state.left_out) ++left_out;
  }
  if (!known) return;
  const auto before = told_parameters_.try_emplace(std::string(series_name::kCheckParametersNotOptimized), -1).first;
  if (before->second != left_out) recorder.scalar(step, series_name::kCheckParametersNotOptimized, left_out);
  before->second = left_out;
}

void StepRecord::memory(Recorder& recorder, std::int64_t step) {
  // Asking the system takes some microseconds, which a quick step cannot spare every time; after many it need not.
  constexpr double kSecondsBetween = 0.1;
  constexpr std::int64_t kFewestStepsBetween = 4;
  constexpr std::int64_t kLooks = 32;  // about so many for each doubling of the steps
  const double time = now();
  const std::int64_t between = std::max(kFewestStepsBetween, seen(step) / kLooks);
  if (time - last_memory_ < kSecondsBetween && step - last_memory_step_ < between) return;
  last_memory_ = time;
  last_memory_step_ = step;
  if (const double bytes = memory_.bytes(); bytes > 0) recorder.scalar(step, series_name::kMemoryResident, bytes);
}

bool StepRecord::begin_pair(std::int64_t step) {
  const std::int64_t between = std::max(kStepsBetweenPairs, seen(step) / kPairsPerDoubling);
  if (last_pair_ && step - *last_pair_ < between) return false;
  last_pair_ = step;
  return true;
}

void StepRecord::pair(Recorder& recorder, std::int64_t step, const stats::PairStats& pair,
                      std::optional<std::int64_t> batch_size) {
  // How much of the gradient before is in this one: all of it when gradients are never cleared.
  if (!told_cleared_.value_or(false)) {
    recorder.scalar(step, series_name::kCheckGradientsCarried, pair.dot / pair.a_squared);
  }
  pairs_.push_back(pair);
  if (pairs_.size() > kPairsKept) pairs_.erase(pairs_.begin());
  if (!batch_size || pairs_.size() < kPairsKept) return;
  const auto size = static_cast<double>(*batch_size);
  // Where no signal is left the scale is infinite, which a curve cannot tell.
  constexpr double kMostBatches = 1e6;
  const double scale = stats::gradient_noise(pairs_, size).scale();
  recorder.scalar(step, series_name::kGradientNoiseScale, std::min(scale, kMostBatches * size));
  recorder.scalar(step, series_name::kBatchSize, size);
}

void StepRecord::loss_kind(Recorder& recorder, std::uint64_t kind) {
  losses_.step(kind);
  if (told_losses_ || !losses_.seen()) return;
  told_losses_ = true;
  recorder.config("osler.losses", "in turns");
}

/// A player's loss goes where the other one drives it: the diagnosis has rules of its own for such runs.
void StepRecord::in_turns(Recorder& recorder) {
  if (told_turns_) return;
  told_turns_ = true;
  recorder.config("osler.networks", "trained in turns");
}

}  // namespace osler::monitor
