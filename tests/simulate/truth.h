// Truth: what is known to be the matter with a labelled run, against which a report is scored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace osler::simulate {

/// The label of one run. All ids are those of the catalogue.
struct Truth {
  bool healthy = true;
  std::string finding;                ///< the main finding; empty when healthy
  std::vector<std::string> accept;    ///< ids any of which counts as a hit; holds `finding`
  std::vector<std::string> tolerate;  ///< ids that are true as well, or defensible: neither hit nor false alarm
  std::vector<std::string> causes;    ///< any of them is the right cause; empty when nobody knows
  std::optional<std::pair<std::int64_t, std::int64_t>> begins;  ///< the main finding starts between these steps
};

}  // namespace osler::simulate
