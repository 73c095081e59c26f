// Training by a recipe with LibTorch, under the monitor.
#pragma once

#include "osler/gallery/course.h"

namespace osler::torch {

/// The gallery's trainer.
[[nodiscard]] Result<gallery::CourseResult> follow(const gallery::Recipe& recipe,
                                                   const gallery::CourseOptions& options = {});

}  // namespace osler::torch
