// Drawing a model's weights anew, as its layers did when they were made.
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace osler::torch {

/// Lets every layer of LibTorch's draw its weights anew; frozen parameters stay. Gives back the names of trainable
/// parameters that belong to no such layer and so were left as they are.
[[nodiscard]] std::vector<std::string> redraw(::torch::nn::Module& model);

}  // namespace osler::torch
