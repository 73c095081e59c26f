// StepTally: adds up what single steps tell: a line for a terminal, the mean loss of an epoch, how often it was
// clipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace osler::monitor {

/// What one step after the other tells, in sums. Every number of a step is optional but its loss.
class StepTally {
 public:
  /// A line is due every so many steps; 0: never. The trend is that of the newest `window` losses.
  explicit StepTally(std::int64_t line_every = 0, std::size_t window = 50) : every_(line_every), window_(window) {}

  /// A step begins. What was told of the step before it is over.
  void step(std::int64_t number, double loss);
  /// The norm of its gradients, before clipping.
  void norm(double value) { norm_ = value; }
  /// Whether its gradients were clipped. Steps of which nothing is told, because they were left out, are not counted.
  void clipping(bool clipped);
  void rate(double value) { rate_ = value; }

  [[nodiscard]] bool line_due() const { return every_ > 0 && number_ / every_ > said_; }
  /// The line of this step, where one is due, once: "step 100  loss 0.5231  trend -0.0123  norm 3.4 [clipped]  clipped
  /// 37 %  lr 0.001", without what was not told. The trend is the mean of the newer half of the window minus that of
  /// the older: two values would tell the noise.
  [[nodiscard]] std::optional<std::string> take_line();

  /// The mean of the finite losses since the epoch before ended; nothing where there were none. The next one begins.
  std::optional<double> end_epoch();
  /// The share of the steps that were clipped, of those of which it is known.
  [[nodiscard]] double clipped_share() const;

 private:
  [[nodiscard]] std::optional<double> trend() const;

  std::int64_t every_;
  std::size_t window_;
  std::int64_t said_ = -1;  // the newest line, in units of `every_`
  std::int64_t number_ = 0;
  double loss_ = 0;
  std::optional<double> norm_;
  bool is_clipped_ = false;
  std::optional<double> rate_;
  std::deque<double> newest_;  // finite losses
  double epoch_mean_ = 0;
  std::int64_t epoch_losses_ = 0;
  std::int64_t clipped_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace osler::monitor
