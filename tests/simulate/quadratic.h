// The noisy quadratic model: the simplest training whose curves obey their learning-rate schedule.
#pragma once

#include "simulate/draft.h"

namespace osler::simulate {

/// A loss made of independent quadratic modes with curvatures from 1 down over several decades; gradient noise keeps
/// each mode from its minimum in proportion to the learning rate. It shows power-law descent, the drop of a cooldown,
/// step decays, warm restarts and divergence beyond a rate of 2 (the top curvature is 1) from one mechanism.
/// After Zhang et al. 2019, "Which Algorithmic Choices Matter at Which Batch Sizes?"; validation after Advani and Saxe
/// 2017: the training set pulls each mode past (or short of) the true optimum.
struct Quadratic {
  std::size_t modes = 32;
  double decades = 3;           ///< from the largest curvature to the smallest
  double exponent = 0.4;        ///< the loss falls like time to the minus this
  double floor = 0.1;           ///< what no training removes, in units of the first loss
  double gradient_noise = 0.1;  ///< excess loss at rate 1, in units of the first loss
  double steps_per_row = 10;
  double overshoot = 0;  ///< how far training runs past the true optimum of its slow modes, as a share of the way
};

/// The curves of one training, in units of the first loss.
struct QuadraticCurves {
  Levels train;
  Levels validation;
  Levels gradient;
};

/// Trains with the given rate per row (in units where 2 is the limit of stability). Values may overflow to infinity.
[[nodiscard]] QuadraticCurves train_quadratic(const Quadratic& task, const Levels& rates, Random& random);

}  // namespace osler::simulate
