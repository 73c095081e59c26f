// Counting the zeros of a row.
#include "formats/skipped_evaluation.h"

#include "formats/rows.h"

namespace osler {

void SkippedEvaluation::add_column(Role role) {
  switch (role) {
    case Role::train_loss:
      return kinds_.push_back(Kind::training_loss);
    case Role::validation_loss:
      return kinds_.push_back(Kind::loss);
    case Role::validation_accuracy:
    case Role::validation_metric:
      return kinds_.push_back(Kind::figure);
    default:
      return kinds_.push_back(Kind::other);
  }
}

void SkippedEvaluation::judge(std::span<const Cell> cells) {
  int losses = 0;
  int figures = 0;
  bool trains = false;
  bool zero_losses = true;
  bool zero_figures = true;
  for (const Cell& cell : cells) {
    const Kind kind = cell.column < kinds_.size() ? kinds_[cell.column] : Kind::other;
    const bool zero = cell.value == 0;
    trains |= kind == Kind::training_loss && !zero;
    losses += kind == Kind::loss ? 1 : 0;
    figures += kind == Kind::figure ? 1 : 0;
    zero_losses &= kind != Kind::loss || zero;
    zero_figures &= kind != Kind::figure || zero;
  }
  const bool together = losses > 1 || (figures > 0 && zero_figures);
  losses_skipped_ = trains && losses > 0 && zero_losses && together;
  figures_skipped_ = losses_skipped_ && zero_figures;
}

bool SkippedEvaluation::skips(std::uint32_t column) const {
  if (!losses_skipped_ || column >= kinds_.size()) return false;
  return kinds_[column] == Kind::loss || (figures_skipped_ && kinds_[column] == Kind::figure);
}

}  // namespace osler
