// Training by a recipe with LibTorch, under the monitor.
#pragma once

#include "osler/gallery/training.h"

namespace osler::trainer {

/// The gallery's trainer.
[[nodiscard]] Result<gallery::TrainingResult> train(const gallery::Recipe& recipe,
                                                    const gallery::TrainingOptions& options = {});

}  // namespace osler::trainer
