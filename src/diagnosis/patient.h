// Patient: a run as the findings and causes see it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/reading.h"
#include "osler/diagnosis/domain.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

/// A run with its roles and the readings that several findings share. Points into the run, which must outlive it.
class Patient {
 public:
  Patient(const Run& run, const RoleMap& roles, double now = kNoTime, std::optional<Domain> domain = std::nullopt);

  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const RoleMap& roles() const { return roles_; }
  /// The wall time of the examination, when the run is being watched; nothing for a log read after the fact.
  [[nodiscard]] std::optional<double> now() const { return now_; }

  /// What training minimises: the training loss, the sum of its parts where no total is logged, or in reinforcement
  /// learning the reward (negated). Null when there is nothing of the kind.
  [[nodiscard]] const Reading* training() const { return training_ ? &*training_ : nullptr; }
  /// The validation loss, or the sum of its parts.
  [[nodiscard]] const Reading* validation() const { return validation_ ? &*validation_ : nullptr; }
  /// Accuracies and metrics on validation data (negated where higher is better), the most telling first.
  [[nodiscard]] const std::vector<Reading>& validation_quality() const { return validation_quality_; }
  /// The same on training data.
  [[nodiscard]] const std::vector<Reading>& training_quality() const { return training_quality_; }
  /// Training and validation objective, those that exist.
  [[nodiscard]] std::vector<const Reading*> objectives() const;
  [[nodiscard]] const Reading* learning_rate() const { return learning_rate_ ? &*learning_rate_ : nullptr; }
  /// The norm of the whole gradient: as logged, or computed from the norms of the layers where the log has only those.
  [[nodiscard]] const Reading* gradient_norm() const { return gradient_norm_ ? &*gradient_norm_ : nullptr; }

  /// What kind of training it is: as the user says, or as the log tells.
  [[nodiscard]] const RecognisedDomain& domain() const { return domain_; }
  /// The run is judged by a reward: its losses say little.
  [[nodiscard]] bool reinforcement() const { return reinforcement_; }
  /// Networks play against each other and there is no plain loss: levels and trends say little.
  [[nodiscard]] bool adversarial() const { return adversarial_; }
  /// The log has no loss: training() is the first accuracy or metric.
  [[nodiscard]] bool by_quality() const { return by_quality_; }
  /// The best accuracy that was observed, on validation data or else on training data, as a share of 1 even where the
  /// log has per cent. Nothing when there is no accuracy.
  [[nodiscard]] std::optional<double> best_accuracy() const;
  /// A configuration value that is a number, under any of the names given.
  [[nodiscard]] std::optional<double> configured(std::initializer_list<std::string_view> names) const;

 private:
  const Run& run_;
  const RoleMap& roles_;
  std::optional<double> now_;
  std::optional<Reading> training_;
  std::optional<Reading> validation_;
  std::vector<Reading> validation_quality_;
  std::vector<Reading> training_quality_;
  std::optional<Reading> learning_rate_;
  std::optional<Reading> gradient_norm_;
  RecognisedDomain domain_;
  bool reinforcement_ = false;
  bool adversarial_ = false;
  bool by_quality_ = false;
};

/// The number of classes C for which `loss` is within `tolerance` (relative) of ln C, the loss of a uniform guess.
[[nodiscard]] std::optional<int> chance_classes(double loss, double tolerance);

}  // namespace osler
