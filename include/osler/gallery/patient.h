// Patient: a training that is sick on purpose, what Osler must say of it, and what makes it well.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "osler/base/registry.h"
#include "osler/gallery/recipe.h"

namespace osler::gallery {

/// A change that makes the patient well, by knob and value.
struct Treatment {
  std::string_view text;  ///< what a person does: "Use ReLU and He initialisation"
  std::vector<std::pair<std::string_view, std::string_view>> changes;
};

/// When a treated patient counts as well. What is judged is the truth: the trained network on clean validation data,
/// in evaluation mode, whatever the training's own validation says.
struct Recovery {
  std::optional<double> accuracy;   ///< at least
  std::optional<double> loss;       ///< at most
  std::optional<double> better_by;  ///< the true validation loss is at most this share of the sick one's
  bool finding_gone = true;         ///< the expected finding is no longer reported as a warning or worse
};

/// One file of gallery/ each. Without an expected finding it is a healthy control: nothing may be reported as a
/// warning.
struct Patient {
  std::string_view id;     ///< kebab-case, the file's name
  std::string_view title;  ///< "A deep sigmoid network whose first layers never learn"
  std::string_view story;  ///< what a person did and why it seemed right, in a few sentences
  Recipe recipe;
  std::string_view finding;              ///< expected
  std::vector<std::string_view> also;    ///< findings that are right too, beside the expected one
  std::string_view cause;                ///< expected first; empty when the finding says it all
  std::vector<std::string_view> causes;  ///< that would be right as well: two names for one thing in this training
  std::string_view probe;                ///< the test that a visit runs because no curve shows the illness
  std::vector<Treatment> treatments;     ///< the best first
  Recovery recovery;
  std::string_view lesson;  ///< what to take home, in one or two sentences

  [[nodiscard]] bool healthy() const { return finding.empty(); }
  [[nodiscard]] bool has_cause() const { return !cause.empty(); }
};

/// All patients, sorted by file name.
[[nodiscard]] std::span<const Registered<Patient>> patients();
[[nodiscard]] const Patient* find_patient(std::string_view id);

}  // namespace osler::gallery
