// The arithmetic of memorising one batch.
#include "probes/memorising.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace osler::probes {
namespace {

constexpr double kMemorised = 0.05;   // of the way from the lowest possible loss to the first
constexpr double kNearly = 3;         // times as far above the lowest possible loss as what counts as memorised
constexpr std::size_t kSettled = 3;   // newest losses that must all be low
constexpr double kStillFalls = 0.02;  // of the way to the target, within the newest half of an attempt's steps
constexpr double kWild = 1.5;         // times the first loss

double mean_of(std::span<const double> losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

}  // namespace

MemoryGoal MemoryGoal::towards(double first, double floor, double blank) {
  const double chance = std::isfinite(blank) && blank > floor ? std::min(first, blank) : first;
  return {first, floor, floor + kMemorised * (chance - floor)};
}

bool MemoryGoal::reached(std::span<const double> losses) const {
  return losses.size() >= kSettled &&
         std::ranges::all_of(losses.last(kSettled), [&](double newest) { return newest <= target; });
}

bool MemoryGoal::nearly_reached(std::span<const double> losses) const {
  if (losses.size() < kSettled) return false;
  return mean_of(losses.last(kSettled)) <= floor + kNearly * (target - floor);
}

bool MemoryGoal::still_falls(std::span<const double> losses, std::size_t steps) const {
  const std::size_t half = steps / 2;
  if (half == 0 || losses.size() < 2 * half) return false;
  const double before = mean_of(losses.last(2 * half).first(half));
  return before - mean_of(losses.last(half)) > kStillFalls * (first - target);
}

bool MemoryGoal::went_wild(std::span<const double> losses) const {
  return !std::isfinite(losses.back()) || losses.back() > first ||
         *std::ranges::max_element(losses) > kWild * std::abs(first);
}

void MemoryGoal::write(std::span<const double> losses, Experiment& experiment) const {
  experiment.values = {{"first-loss", first, {}, {}},
                       {"last-loss", losses.back(), {}, {}},
                       {"floor", floor, {}, {}},
                       {"target", target, {}, {}},
                       {"steps", static_cast<double>(losses.size()), {}, {}}};
  std::vector<double> steps(losses.size());
  std::iota(steps.begin(), steps.end(), 0.0);
  experiment.columns = {{"step", std::move(steps)}, {"loss", {losses.begin(), losses.end()}}};
}

bool falls_without_end(std::span<const double> losses) {
  if (losses.size() < 3 || losses.back() >= 0) return false;
  // A loss with a minimum is approached more and more slowly.
  const double middle = losses[losses.size() / 2];
  return losses.back() < losses.front() && middle - losses.back() > losses.front() - middle;
}

bool falls_without_end(double start, double lowest) {
  constexpr double kFarBelow = 100;  // times the first loss: logarithms of densities come to a few times it
  return lowest < 0 && -lowest > kFarBelow * std::max(1.0, std::abs(start));
}

}  // namespace osler::probes
