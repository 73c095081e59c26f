// The lists of families, one per file that defines some.
#pragma once

#include <vector>

#include "simulate/simulated_run.h"

namespace osler::simulate {

[[nodiscard]] std::vector<Family> healthy_curves();     ///< formulas: descents, plateaus, jumps, lengths, noise
[[nodiscard]] std::vector<Family> healthy_schedules();  ///< the noisy quadratic model under many schedules
[[nodiscard]] std::vector<Family> healthy_kinds();      ///< special trainings: GAN, RL, language models, detection
[[nodiscard]] std::vector<Family> healthy_wild();       ///< healthy, but ill to a quick eye
[[nodiscard]] std::vector<Family> sick_nonfinite();     ///< the loss stops being a number
[[nodiscard]] std::vector<Family> sick_losses();        ///< diverging, stuck, slow
[[nodiscard]] std::vector<Family> sick_stability();     ///< oscillation, spikes, saw teeth
[[nodiscard]] std::vector<Family> sick_validation();    ///< overfitting and what else validation tells
[[nodiscard]] std::vector<Family> sick_gradients();     ///< gradient norms, clipping, precision
[[nodiscard]] std::vector<Family> sick_rates();         ///< learning rates and the clock
[[nodiscard]] std::vector<Family> wild();               ///< after curves seen in public logs
[[nodiscard]] std::vector<Family> trained_healthy();    ///< small networks trained for real, well
[[nodiscard]] std::vector<Family> trained_sick();       ///< and badly

/// Ids that often come together, for the labels.
extern const std::vector<std::string> kUnstable;  ///< spikes, oscillation, growth
extern const std::vector<std::string> kFlat;      ///< no or little progress

/// The two lists in one.
[[nodiscard]] std::vector<std::string> both(std::vector<std::string> first, const std::vector<std::string>& second);

}  // namespace osler::simulate
