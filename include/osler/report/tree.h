// Renderers of the diagnosis tree.
#pragma once

#include <string>
#include <vector>

#include "osler/diagnosis/tree.h"
#include "osler/report/render.h"

namespace osler {

/// The whole tree as a drawing; with `verbose`, the findings behind each question.
[[nodiscard]] std::string render_tree(const TextOptions& options = {});

/// The way of one run: question, answer, from which numbers, and the conclusion.
[[nodiscard]] std::string render_way(const std::vector<TreeStep>& way, const TextOptions& options = {});

}  // namespace osler
