// How a training is kept and taken up again.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "torch/train_loop.h"

namespace osler::torch {
namespace {

constexpr const char* kCounts = "osler/train";  // a tensor, because text would round
constexpr const char* kData = "osler/data";
constexpr const char* kBest = "osler/best/";

/// Every number as a double, NaN for those that are not there.
at::Tensor to_tensor(const TrainCounts& counts) {
  const double nothing = std::nan("");
  const std::vector<double> numbers = {static_cast<double>(counts.in_epoch),
                                       static_cast<double>(counts.monitored),
                                       static_cast<double>(counts.skipped),
                                       static_cast<double>(counts.skipped_in_a_row),
                                       static_cast<double>(counts.roll_backs),
                                       static_cast<double>(counts.best_step),
                                       static_cast<double>(counts.since_best),
                                       counts.ended_early ? 1.0 : 0.0,
                                       counts.loss,
                                       counts.validation_loss.value_or(nothing),
                                       counts.best_loss.value_or(nothing)};
  return at::tensor(numbers, at::kDouble);
}

TrainCounts from_notes(const CheckpointNotes& notes) {
  const auto at = notes.tensors.find(kCounts);
  constexpr std::int64_t kNumbers = 11;
  if (at == notes.tensors.end() || at->second.numel() != kNumbers || at->second.scalar_type() != at::kDouble) {
    throw std::invalid_argument("osler: the checkpoint was not written by train()");
  }
  const auto* const numbers = at->second.data_ptr<double>();
  const auto whole = [&](std::size_t i) { return static_cast<std::int64_t>(numbers[i]); };
  const auto optional = [&](std::size_t i) {
    return std::isnan(numbers[i]) ? std::nullopt : std::optional(numbers[i]);
  };
  TrainCounts counts;
  counts.step = notes.step;
  counts.epoch = notes.epoch;
  counts.in_epoch = whole(0);
  counts.monitored = whole(1);
  counts.skipped = whole(2);
  counts.skipped_in_a_row = whole(3);
  counts.roll_backs = whole(4);
  counts.best_step = whole(5);
  counts.since_best = whole(6);
  counts.ended_early = numbers[7] != 0;
  counts.loss = numbers[8];
  counts.validation_loss = optional(9);
  counts.best_loss = optional(10);
  return counts;
}

}  // namespace

CheckpointParts TrainLoop::parts() {
  return {training_.model, &training_.optimizer, &scheduler_, loss_scale_ ? &*loss_scale_ : nullptr};
}

bool TrainLoop::weights_are_finite() const {
  for (const at::Tensor& tensor : weights()) {
    if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>()) return false;
  }
  return true;
}

void TrainLoop::save() {
  // A state that can only be gone back from must not replace one that can be gone on from.
  if (options_.checkpoint.empty() || !weights_are_finite()) return;
  CheckpointNotes notes{counts_.step, counts_.epoch, options_.fields, {}};
  notes.fields[kData] = data_.description;
  notes.tensors[kCounts] = to_tensor(counts_);
  for (std::size_t i = 0; i < best_.size(); ++i) notes.tensors[kBest + std::to_string(i)] = best_[i];
  const Result<void> saved = save_checkpoint(options_.checkpoint, parts(), notes);
  checkpoint_error_ = saved ? std::nullopt : std::optional(saved.error());
  if (!saved) return;
  monitor_->checkpoint(/*with_scheduler=*/true);
  // A resumed training starts with this as its good state, so this one has it too.
  keep_good();
}

void TrainLoop::resume() {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("osler: the training cannot go on from {}: {}; move the file away to start anew",
                    options_.checkpoint.string(), why));
  };
  Result<CheckpointNotes> notes = load_checkpoint(options_.checkpoint, parts());
  if (!notes && notes.error().code == ErrorCode::not_found) return;
  if (!notes) refuse(notes.error().message);
  const auto data = notes->fields.find(kData);
  if (data != notes->fields.end() && data->second != data_.description) {
    refuse(fmt::format("its data were {}, these are {}", data->second, data_.description));
  }
  counts_ = from_notes(*notes);
  const std::size_t tensors = weights().size();
  for (std::size_t i = 0; i < tensors; ++i) {
    const auto best = notes->tensors.find(kBest + std::to_string(i));
    if (best != notes->tensors.end()) best_.push_back(best->second);
  }
  if (best_.size() != tensors) best_.clear();
  resumed_ = true;
}

}  // namespace osler::torch
