// Counting visits.
#include "cli/gallery/sums.h"

namespace osler::cli {

Sums sums_of(const std::vector<Made>& all) {
  Sums sums;
  for (const Made& made : all) {
    if (made.patient->healthy()) {
      sums.clean.add(made.visit.clean);
      continue;
    }
    sums.found.add(made.visit.finding_seen);
    if (made.patient->has_cause()) {
      sums.first.add(made.visit.cause_rank == 0U);
      sums.among_three.add(made.visit.cause_rank && *made.visit.cause_rank <= 2);
    }
    if (!made.visit.treated) continue;
    sums.recovered.add(made.visit.recovered);
    sums.by_report.add(made.visit.recovered && !made.visit.prescribed);
  }
  return sums;
}

}  // namespace osler::cli
