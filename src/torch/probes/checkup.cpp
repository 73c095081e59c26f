// The checkup: every point in turn, each on the training as it was.
#include "osler/torch/checkup.h"

#include <fmt/format.h>

#include <stdexcept>

#include "probes/start.h"
#include "torch/probes/checkup_points.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

/// The result of a point; an exception of the training's own functions is a failure of the point.
PointResult result_of(const CheckupPoint& point, Examined& examined) {
  try {
    return point.look(examined);
  } catch (const Ended&) {
    throw;
  } catch (const std::exception& error) {
    return bad(fmt::format("The training threw an exception: {}", first_line(error.what())));
  }
}

void run_points(const std::vector<CheckupPoint>& points, Examined& examined, Experiment& experiment) {
  for (const CheckupPoint& point : points) {
    examined.clock.check();
    examined.afresh();
    const PointResult result = result_of(point, examined);
    experiment.checks.push_back({point.id, result.outcome, result.text});
  }
}

}  // namespace

PointResult good(std::string text) {
  return {Outcome::passed, std::move(text)};
}

PointResult bad(std::string text) {
  return {Outcome::failed, std::move(text)};
}

PointResult not_checked(std::string text) {
  return {Outcome::undecided, std::move(text)};
}

Experiment checkup(const Training& training, const CheckupOptions& options, const Limits& limits) {
  if (options.batches < 1) throw std::invalid_argument("checkup: batches must be at least 1.");
  const bool was_training = training.model.is_training();
  return run_probe("checkup", training, limits, [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
    Examined examined{training, options, preserved, clock, was_training, draw(training, options.batches), {}};
    for (std::size_t i = 0; training.next_validation_batch && i < options.batches; ++i) {
      examined.validation.push_back(training.next_validation_batch());
    }
    run_points(model_points(), examined, experiment);
    run_points(data_points(), examined, experiment);
    probes::conclude_checkup(experiment);
  });
}

int exit_status(const Experiment& experiment) {
  switch (experiment.outcome) {
    case Outcome::passed:
      return 0;
    case Outcome::failed:
      return 1;
    case Outcome::undecided:
    case Outcome::stopped:
      break;
  }
  return 2;
}

}  // namespace osler::torch
