// One question of the quiz: what may be answered, what is right, and why a wrong answer is wrong.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "osler/diagnosis/report.h"
#include "osler/gallery/patient.h"

namespace osler::cli {

/// What is answered when nothing is wrong with the patient.
inline constexpr std::string_view kHealthy = "healthy";

/// One of the answers to choose from.
struct Choice {
  std::string id;  ///< of a cause, or `kHealthy`
  std::string text;
};

/// The right answer: the patient's cause, or `kHealthy`.
[[nodiscard]] std::string_view right_answer(const gallery::Patient& patient);
[[nodiscard]] bool is_right(const gallery::Patient& patient, std::string_view id);

/// The right answer among plausible others, in a random order: causes that the report weighed or ruled out first, so
/// that the wrong ones fit the curves; "healthy" is always among them.
[[nodiscard]] std::vector<Choice> choices_for(const gallery::Patient& patient, const Report& report,
                                              std::mt19937_64& random);

/// Why that answer is wrong for this run, and what would tell it from the right one.
[[nodiscard]] std::string why_not(const gallery::Patient& patient, const Report& report, std::string_view id);

/// What the layers, activations and batches show, as Markdown, without the names of findings, which would give the
/// answer away.
[[nodiscard]] std::string layer_evidence(const Report& report);

}  // namespace osler::cli
