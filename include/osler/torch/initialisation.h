// How a model starts: the sizes of its weights, and what they do to a signal on its way through.
#pragma once

#include <torch/nn/module.h>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// Holds the weights of every layer against He's and Xavier's rules for its number of inputs, and looks for large
/// biases and equal rows (probe "initialisation-check"). Reads only. One check per layer. Columns, a row per layer:
/// depth, std, he-ratio and xavier-ratio (over what the rules ask for; NaN where they do not apply), row-difference.
/// Throws std::invalid_argument when the model has no parameters.
[[nodiscard]] Experiment initialisation_check(const ::torch::nn::Module& model);

/// Sends random inputs forward and a random signal backward through the model and measures both layer by layer (probe
/// "signal-propagation"). Inputs have the shape and kind of a training batch. One check per layer, in the order of the
/// forward pass. Columns, a row per layer: depth, activation-std, gradient-std. Values: forward-factor and
/// backward-factor, by which the signal changes per layer on its way.
[[nodiscard]] Experiment signal_propagation(const Training& training, const Limits& limits = {});

}  // namespace osler::torch
