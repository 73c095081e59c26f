// Prints a score for people, and writes it for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "score/tally.h"

namespace osler::score {

/// How much to print.
struct PrintOptions {
  bool by_family = false;
  bool verbose = false;  ///< every run, not only those that came out wrong
};

/// The parts of a source that were scored, each with its outcomes; empty where it has fewer than two.
[[nodiscard]] std::map<std::string, std::vector<const Outcome*>> parts_of(const std::vector<const Outcome*>& outcomes);

/// A share with its counts and interval: "0.85 (17 of 20; 0.64 to 0.95)".
[[nodiscard]] std::string share_text(std::size_t part, std::size_t whole);
/// The score of one source of runs, as text.
[[nodiscard]] std::string as_text(Source source, const std::vector<const Outcome*>& outcomes,
                                  const PrintOptions& options);
/// A reliability table as text.
[[nodiscard]] std::string reliability_text(const std::string& what, const std::vector<ReliabilityBin>& bins);
/// The same as JSON, with every run.
[[nodiscard]] nlohmann::json as_json(const std::vector<const Outcome*>& outcomes);
/// The same as a section of docs/accuracy.md.
[[nodiscard]] std::string as_markdown(Source source, const std::vector<const Outcome*>& outcomes);
/// A reliability table as part of that page.
[[nodiscard]] std::string reliability_markdown(const std::vector<ReliabilityBin>& bins);

}  // namespace osler::score
