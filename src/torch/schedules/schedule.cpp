// Schedule: a formula with a name.
#include "osler/torch/schedule.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace osler::torch {

Schedule::Schedule() : Schedule("constant()", [](std::int64_t) { return ScheduledSetting{}; }) {}

Schedule::Schedule(std::string description, Formula formula)
    : description_(std::move(description)), formula_(std::move(formula)) {
  if (!formula_) throw std::invalid_argument("osler: a schedule needs a formula");
}

ScheduledSetting Schedule::at(std::int64_t step) const {
  return formula_(std::max<std::int64_t>(step, 0));
}

}  // namespace osler::torch
