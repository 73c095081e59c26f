// LossScale: a factor on the loss that keeps small gradients from vanishing in half precision.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "osler/torch/ranks.h"

namespace osler::torch {

/// How a loss scale moves. Powers of two leave every digit of a gradient as it is.
struct LossScaleOptions {
  double start = 65536;
  double growth = 2;
  double back_off = 0.5;
  std::int64_t growth_every = 2000;  ///< steps without overflow before it grows
  double least = 1;
  double most = 16777216;
};

/// Where a loss scale stands. Kept in checkpoints.
struct LossScaleState {
  double scale = 65536;
  std::int64_t good_steps = 0;  ///< since it last changed
  std::int64_t overflows = 0;   ///< in all

  friend bool operator==(const LossScaleState&, const LossScaleState&) = default;
};

/// A loss scale that backs off when gradients overflow and grows again after a while (Micikevicius et al. 2018).
///
///     scale.scaled(loss).backward();
///     if (scale.unscale(model.parameters())) optimizer.step();
class LossScale {
 public:
  /// Throws std::invalid_argument when the options make no sense.
  explicit LossScale(const LossScaleOptions& options = {});

  [[nodiscard]] double value() const { return state_.scale; }
  /// The loss to call backward() on.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const { return loss * state_.scale; }

  /// Divides the gradients by the scale and moves it. True: they are finite, go on. False: they overflowed, leave the
  /// step out; the gradients are cleared. With ranks, all of them get the same answer.
  [[nodiscard]] bool unscale(const std::vector<at::Tensor>& parameters, const Ranks* ranks = nullptr);
  /// The same for a model in half precision with parameters of full precision behind it: the gradients of `parameters`
  /// become those of `masters`, divided after they were widened, so that none vanishes.
  [[nodiscard]] bool unscale(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& masters,
                             const Ranks* ranks = nullptr);

  [[nodiscard]] const LossScaleState& state() const { return state_; }
  /// Goes on from `state`.
  void load(const LossScaleState& state) { state_ = state; }

 private:
  bool settle(bool finite, const Ranks* ranks);

  LossScaleOptions options_;
  LossScaleState state_;
};

}  // namespace osler::torch
