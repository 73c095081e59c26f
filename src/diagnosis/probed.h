// What findings that rest on an experiment share: reading it, and saying why it cannot be read.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "diagnosis/observe.h"
#include "osler/run/experiment.h"

namespace osler {

/// The experiment with a probe when it came to an answer; otherwise why there is none. `call` is the function that
/// would run it.
[[nodiscard]] std::variant<Experiment, NotChecked> answered(const Patient& patient, std::string_view probe,
                                                            std::string_view call);

/// The value called `name` with its interval, or nullptr.
[[nodiscard]] const Experiment::Value* value_of(const Experiment& experiment, std::string_view name);

/// An observation that rests on an experiment's value.
[[nodiscard]] Observation observe_experiment(const Experiment& experiment, Severity severity, double confidence,
                                             std::string summary);
/// The value as evidence.
[[nodiscard]] Evidence measured(const Experiment& experiment, std::string_view value, double threshold,
                                std::string text);

}  // namespace osler
