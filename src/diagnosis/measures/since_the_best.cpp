// since-the-best: how long ago validation was best.
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  constexpr std::size_t kFewest = 5;
  const Reading* validation = patient.validation();
  if (validation == nullptr && !patient.validation_quality().empty())
    validation = &patient.validation_quality().front();
  if (validation == nullptr || validation->size() < kFewest || validation->last_step <= validation->first_step) {
    return std::nullopt;
  }
  const auto length = static_cast<double>(validation->last_step - validation->first_step);
  return static_cast<double>(validation->last_step - validation->step_at(validation->best_at)) / length;
}

}  // namespace

MeasureKind since_the_best() {
  return {"since-the-best",
          "part of the run since the best validation",
          "of the run",
          "The share of the run that passed since the lowest validation loss (or else the best metric).",
          "logs with at least 5 evaluations",
          take};
}

}  // namespace osler::catalogue::measure
