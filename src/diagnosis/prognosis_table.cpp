// Written by osler_score --learn-margins; not to be edited by hand. Each row: how far ahead it holds, in lengths of the
// known stretch, the cut runs behind it, and the margins in units of a foresight's scale.
#include "diagnosis/prognosis_table.h"

namespace osler {

std::span<const MarginRow> margin_table() {
  static constexpr MarginRow kRows[] = {
      {0.35, 104, -1.625, 0.884},
      {0.8, 77, -1.901, 0.839},
      {2.5, 56, -2.755, 0.910},
  };
  return kRows;
}

}  // namespace osler
