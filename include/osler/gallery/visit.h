// A visit: a patient of the gallery is trained, diagnosed, treated, and trained again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "osler/gallery/patient.h"
#include "osler/gallery/training.h"
#include "osler/probes/treat.h"

namespace osler::gallery {

/// How a visit is made.
struct VisitOptions {
  TrainingOptions training;  ///< `run_file` is the sick run's; the treated run's has "-treated" before its ending
  bool treat = true;         ///< off: only the diagnosis
  /// On: a visitor has set something of the recipe. Unless the patient's own finding is seen all the same, its file
  /// says nothing about such a training: it is treated when a warning or worse was found, and is well when what the
  /// report led with is gone and the true loss is no higher.
  bool own = false;
  double fork_share = 0.5;  ///< how much of the run a fork of the treatment is; more when the illness shows later
  probes::TreatOptions treatment;
  std::function<void(std::string_view phase)> on_phase;  ///< "sick", "fork 1", ..., "treated"
};

/// What came of a visit.
struct Visit {
  std::uint64_t seed = 0;
  TrainingResult sick;
  bool finding_seen = false;              ///< the expected one, or one that is right too
  std::optional<std::size_t> cause_rank;  ///< of the expected cause among the report's; 0 is first
  bool clean = false;                     ///< no warning or worse: what a healthy control must be

  std::optional<probes::Cure> cure;  ///< what the report's own remedies did
  bool prescribed = false;           ///< they did not suffice, so the patient's own treatment was taken
  Recipe treated_recipe;
  std::optional<TrainingResult> treated;
  bool recovered = false;
  std::string not_recovered;  ///< why it does not count as well
};

/// The recipe with changes made; one that does not fit leaves it as it is.
[[nodiscard]] Recipe changed(Recipe recipe, const probes::Changes& changes);

/// Tries the remedies of a report in short forks of the recipe's training. No run is kept of them.
[[nodiscard]] probes::Cure cure(const Recipe& recipe, const Report& report, const Trainer& trainer,
                                const VisitOptions& options = {});

/// Makes a visit. Fails when the recipe cannot be trained or a run file cannot be written.
[[nodiscard]] Result<Visit> visit(const Patient& patient, const Trainer& trainer, const VisitOptions& options = {});

/// Whether a patient is well, or why not.
[[nodiscard]] std::optional<std::string> still_ill(const Patient& patient, const TrainingResult& sick,
                                                   const TrainingResult& treated);

}  // namespace osler::gallery
