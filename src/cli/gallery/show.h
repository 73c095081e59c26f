// The gallery in words: the list of patients, a visit from story to lesson, the table of many visits.
#pragma once

#include <string>
#include <vector>

#include "osler/gallery/patient.h"
#include "osler/gallery/visit.h"
#include "osler/report/render.h"

namespace osler::cli {

/// One visit that was made.
struct Made {
  const gallery::Patient* patient = nullptr;
  gallery::Visit visit;
};

/// Whether something of the recipe was set by the visitor.
[[nodiscard]] bool is_own(const gallery::Patient& patient);

/// Whether a visit went as the patient's file says: found, explained, cured; or clean. What a visitor has set and no
/// longer has the patient's illness is held against nothing: it is clean, or the report's own remedies made it well.
[[nodiscard]] bool as_expected(const Made& made);

/// What a visit lacks of that, in a clause; empty when it went as expected.
[[nodiscard]] std::string shortfall(const Made& made);

[[nodiscard]] std::string show_list(const TextOptions& options);
[[nodiscard]] std::string show_knobs(const TextOptions& options);
/// What the patient is and what was done to it, before its report.
[[nodiscard]] std::string show_story(const gallery::Patient& patient, const TextOptions& options);
/// The report on the sick training, with the finding that the patient is about first.
[[nodiscard]] std::string show_report(const Made& made, const TextOptions& options);
/// What was tried, before and after, and what to learn; behind its report.
[[nodiscard]] std::string show_outcome(const Made& made, const TextOptions& options);
/// One line for each visit and the sums.
[[nodiscard]] std::string show_table(const std::vector<Made>& all, const TextOptions& options);
/// The same for programs: {"visits": [...], "summary": {...}}.
[[nodiscard]] std::string table_json(const std::vector<Made>& all);

}  // namespace osler::cli
