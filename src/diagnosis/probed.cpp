// Experiments as findings see them.
#include "diagnosis/probed.h"

#include <algorithm>
#include <cmath>

namespace osler {

std::variant<Experiment, NotChecked> answered(const Patient& patient, std::string_view probe, std::string_view call) {
  auto found = experiment(patient.run(), probe);
  if (!found) return NotChecked{"run the probe: osler::torch::" + std::string(call)};
  if (found->outcome == Experiment::Outcome::stopped) {
    return NotChecked{"the probe " + std::string(probe) + " was stopped: " + found->verdict};
  }
  return std::move(*found);
}

const Experiment::Value* value_of(const Experiment& experiment, std::string_view name) {
  const auto found = std::find_if(experiment.values.begin(), experiment.values.end(),
                                  [&](const Experiment::Value& value) { return value.name == name; });
  return found == experiment.values.end() ? nullptr : &*found;
}

Observation observe_experiment(const Experiment& experiment, Severity severity, double confidence,
                               std::string summary) {
  return observe(severity, confidence, experiment.step, experiment.step, std::move(summary));
}

Evidence measured(const Experiment& experiment, std::string_view value, double threshold, std::string text) {
  return evidence(experiment_key(experiment.probe), experiment.step, experiment.step,
                  experiment.value(value).value_or(std::nan("")), threshold, std::move(text));
}

}  // namespace osler
