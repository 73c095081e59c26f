// Cuts healthy runs short and compares what was foretold of them with what came.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/prognosis.h"
#include "score/subject.h"

namespace osler::score {

/// A healthy run that was cut: what was foretold of its end, and what it was.
struct CutRun {
  std::string name;
  std::string family;
  Foresight foresight;
  double came = 0;
};

/// Healthy runs cut at three places each. Simulated curves teach nothing about real ones and are passed over.
[[nodiscard]] std::vector<CutRun> cut_runs(std::vector<Subject>& subjects);

/// The margins that nine in ten of the cut runs kept to; every run counts alike, however often it was cut.
[[nodiscard]] std::vector<MarginRow> learn_margins(const std::vector<CutRun>& cuts);

/// How many cut runs of families left out ended in the interval learned from the others.
[[nodiscard]] std::string coverage_text(const std::vector<CutRun>& cuts, std::size_t folds);

/// The file src/diagnosis/prognosis_table.cpp.
[[nodiscard]] std::string margins_source(const std::vector<MarginRow>& rows);

}  // namespace osler::score
