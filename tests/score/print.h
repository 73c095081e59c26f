// Prints a score for people, and writes it for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "score/learn.h"
#include "score/tally.h"

namespace osler::score {

/// How much to print.
struct PrintOptions {
  bool by_family = false;
  bool verbose = false;  ///< every run, not only those that came out wrong
};

/// The score of one source of runs, as text.
[[nodiscard]] std::string as_text(Source source, const std::vector<const Outcome*>& outcomes,
                                  const PrintOptions& options);
/// A reliability table, and one line on causes, as text.
[[nodiscard]] std::string reliability_text(const std::vector<ReliabilityBin>& bins);
[[nodiscard]] std::string causes_text(const std::string& what, const CauseScore& score);
/// The same as JSON, with every run.
[[nodiscard]] nlohmann::json as_json(const std::vector<const Outcome*>& outcomes);
/// The same as a section of docs/accuracy.md.
[[nodiscard]] std::string as_markdown(Source source, const std::vector<const Outcome*>& outcomes);

}  // namespace osler::score
