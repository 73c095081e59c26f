// Whether the gallery holds: how many visits went as the files of their patients say.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/gallery/show.h"

namespace osler::cli {

/// How many visits there were of a kind, and with how many it was so.
struct Share {
  std::size_t yes = 0;
  std::size_t all = 0;

  void add(bool so) {
    yes += so ? 1 : 0;
    ++all;
  }
};

/// The sums of many visits.
struct Sums {
  Share found;        ///< the expected finding was reported
  Share first;        ///< the expected cause came first, where one is expected
  Share among_three;  ///< it was among the first three
  Share recovered;    ///< the treatment restored training
  Share by_report;    ///< the report's own remedies did
  Share clean;        ///< healthy controls without a warning
};

[[nodiscard]] Sums sums_of(const std::vector<Made>& all);

}  // namespace osler::cli
