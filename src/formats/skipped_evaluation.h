// SkippedEvaluation: tells rows whose validation figures are zeros because nothing was evaluated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "osler/run/role.h"

namespace osler {

struct Cell;

/// Some trainers fill the columns of the validation with zeros where none took place: before the first one, between
/// two, or in every row where it is switched off. A loss of exactly 0 on data that is not trained on, beside another
/// loss or a figure that is 0 as well and a training loss that is not, was never measured.
class SkippedEvaluation {
 public:
  /// Says what the next column means.
  void add_column(Role role);
  /// Looks at a row.
  void judge(std::span<const Cell> cells);
  /// Whether the cell of that column was never measured in the row that was judged last.
  [[nodiscard]] bool skips(std::uint32_t column) const;

 private:
  enum class Kind : std::uint8_t { other, training_loss, loss, figure };

  std::vector<Kind> kinds_;  // by column
  bool losses_skipped_ = false;
  bool figures_skipped_ = false;
};

}  // namespace osler
