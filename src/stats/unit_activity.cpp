// Silent units of a batch, dead units of a window.
#include "osler/stats/unit_activity.h"

#include <algorithm>

namespace osler::stats {

std::size_t UnitActivity::silent() const {
  return static_cast<std::size_t>(std::count(active.begin(), active.end(), std::uint32_t{0}));
}

DeadUnitWindow::DeadUnitWindow(std::size_t units, std::uint64_t window)
    : window_(std::max<std::uint64_t>(window, 1)), last_active_(units) {}

void DeadUnitWindow::add(const UnitActivity& batch) {
  if (batch.active.size() != last_active_.size()) {
    last_active_.assign(batch.active.size(), 0);
    batches_ = 0;
  }
  if (batch.places == 0) return;  // nothing was looked at, so nothing is known
  ++batches_;
  for (std::size_t unit = 0; unit < last_active_.size(); ++unit) {
    if (batch.active[unit] > 0) last_active_[unit] = batches_;
  }
}

bool DeadUnitWindow::dead(std::size_t unit) const {
  return full() && last_active_[unit] + window_ <= batches_;
}

std::size_t DeadUnitWindow::dead_count() const {
  std::size_t count = 0;
  for (std::size_t unit = 0; unit < last_active_.size(); ++unit) count += dead(unit) ? 1 : 0;
  return count;
}

double DeadUnitWindow::dead_share() const {
  return last_active_.empty() ? 0.0 : static_cast<double>(dead_count()) / static_cast<double>(last_active_.size());
}

}  // namespace osler::stats
