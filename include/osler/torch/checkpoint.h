// Checkpoints: everything a training needs to go on exactly where it was, in one file that is never half written.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/torch/loss_scale.h"
#include "osler/torch/scheduler.h"

namespace osler::torch {

/// What a checkpoint keeps; all but the model may be left out.
struct CheckpointParts {
  ::torch::nn::Module& model;
  ::torch::optim::Optimizer* optimizer = nullptr;
  Scheduler* scheduler = nullptr;
  LossScale* loss_scale = nullptr;
  bool random = true;  ///< the random number generators of the host and of the model's devices
};

/// Where the training stands, and whatever the user wants to keep with it.
struct CheckpointNotes {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::map<std::string, std::string> fields = {};
  std::map<std::string, at::Tensor> tensors = {};  ///< all of them defined
};

/// Writes a checkpoint: into a file beside it, which takes its name when everything is on the device. Whatever happens
/// meanwhile, an older checkpoint under that name stays whole.
[[nodiscard]] Result<void> save_checkpoint(const std::filesystem::path& path, const CheckpointParts& parts,
                                           const CheckpointNotes& notes = {}, FileSystem& files = real_file_system());

/// Reads a checkpoint into `parts`, in the same tensors. A damaged or foreign file, one that lacks a part that is asked
/// for, and one of another model, optimizer or schedule give an error that says so; the parts are then as before. Parts
/// of the file that are not asked for are left out.
[[nodiscard]] Result<CheckpointNotes> load_checkpoint(const std::filesystem::path& path, const CheckpointParts& parts,
                                                      FileSystem& files = real_file_system());

}  // namespace osler::torch
