// All families in one list.
#include "simulate/family_lists.h"

namespace osler::simulate {

const std::vector<std::string> kUnstable = {"loss-diverging",     "loss-oscillating",         "loss-spikes",
                                            "late-loss-variance", "exploding-gradients",      "loss-nonfinite-later",
                                            "gradient-nonfinite", "gradient-norm-oscillating"};
const std::vector<std::string> kFlat = {"loss-plateau", "loss-stuck-from-start", "loss-stuck-after-drop",
                                        "loss-too-slow", "underfitting"};

std::vector<std::string> both(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::span<const Family> families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> joined;
    for (const auto& list : {healthy_curves(), healthy_schedules(), healthy_kinds(), healthy_wild(), sick_nonfinite(),
                             sick_losses(), sick_stability(), sick_validation(), sick_gradients(), sick_rates(), wild(),
                             trained_healthy(), trained_sick()}) {
      joined.insert(joined.end(), list.begin(), list.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace osler::simulate
