// Sums over steps.
#include "monitor/step_tally.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace osler::monitor {

void StepTally::step(std::int64_t number, double loss) {
  number_ = number;
  loss_ = loss;
  norm_.reset();
  is_clipped_ = false;
  rate_.reset();
  if (!std::isfinite(loss)) return;
  ++epoch_losses_;
  epoch_mean_ += (loss - epoch_mean_) / static_cast<double>(epoch_losses_);
  newest_.push_back(loss);
  if (newest_.size() > window_) newest_.pop_front();
}

void StepTally::clipping(bool clipped) {
  is_clipped_ = clipped;
  ++counted_;
  if (clipped) ++clipped_;
}

std::optional<double> StepTally::trend() const {
  constexpr std::size_t kFewest = 4;
  if (newest_.size() < kFewest) return std::nullopt;
  const auto middle = newest_.begin() + static_cast<std::ptrdiff_t>(newest_.size() / 2);
  const auto mean = [](auto begin, auto end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  return mean(middle, newest_.end()) - mean(newest_.begin(), middle);
}

std::optional<std::string> StepTally::take_line() {
  // Steps whose loss comes late from a device may come several at once: no line is lost for that.
  if (!line_due()) return std::nullopt;
  said_ = number_ / every_;
  std::string text = fmt::format("step {}  loss {:.4g}", number_, loss_);
  if (const auto way = trend()) text += fmt::format("  trend {:+.3g}", *way);
  if (norm_) text += fmt::format("  norm {:.3g}", *norm_);
  if (is_clipped_) text += " [clipped]";
  if (counted_ > 0) text += fmt::format("  clipped {:.0f} %", 100 * clipped_share());
  if (rate_) text += fmt::format("  lr {:.4g}", *rate_);
  return text;
}

std::optional<double> StepTally::end_epoch() {
  if (epoch_losses_ == 0) return std::nullopt;
  epoch_losses_ = 0;
  return std::exchange(epoch_mean_, 0);
}

double StepTally::clipped_share() const {
  return counted_ > 0 ? static_cast<double>(clipped_) / static_cast<double>(counted_) : 0;
}

}  // namespace osler::monitor
