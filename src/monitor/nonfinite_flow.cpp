// The rules by which a non-finite result is passed on, let be, or held against an operation.
#include "monitor/nonfinite_flow.h"

namespace osler::monitor {

FlowRuling ruling(const FlowClues& clues) {
  if (clues.carried == Carried::fault) return FlowRuling::carried_on;
  if (clues.carried == Carried::asked_for) {
    // An infinity that was wanted is made worse by what turns it into a NaN, and by a loss that picks it.
    const bool worse = (clues.nan_made && !clues.nan_carried) || clues.plain.starts_with("nll_loss");
    return worse ? FlowRuling::accused : FlowRuling::asked_for;
  }
  return clues.scalars_finite ? FlowRuling::accused : FlowRuling::asked_for;
}

bool looks_like_mask(std::string_view plain, const MaskClues& clues) {
  if (clues.nan || clues.above) return false;
  if (!clues.numbers) return true;
  return clues.highest == 0 && (clues.lowest == 0 || plain == "add" || plain == "baddbmm");
}

bool ignores_first(std::string_view plain, std::span<const double> scalars) {
  const bool adds = plain == "addmm" || plain == "baddbmm" || plain == "addbmm" || plain == "addmv" || plain == "addr";
  return adds && !scalars.empty() && scalars.front() == 0;
}

}  // namespace osler::monitor
