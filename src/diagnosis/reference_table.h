// The table of what is usual among healthy runs, as it is written into the source.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace osler {

/// One row: the quantiles of a measure over the healthy runs of a stratum, at reference_levels().
struct ReferenceTableRow {
  std::string_view measure;
  std::string_view stratum;
  std::size_t runs = 0;
  std::array<double, 21> quantiles = {};
};

/// All rows. `osler_score --learn-ranges` writes them anew.
[[nodiscard]] std::span<const ReferenceTableRow> reference_table();
/// The healthy runs that the table was learned from.
[[nodiscard]] std::size_t reference_runs();

}  // namespace osler
