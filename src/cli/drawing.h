// What is drawn of a run, where a figure goes, and how it looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/wishes.h"
#include "osler/base/result.h"
#include "osler/figures/figure.h"
#include "osler/run/run.h"

namespace osler::cli {

/// What shall be drawn of a run, in the words of `osler plot`.
struct Drawing {
  std::string kind = "curves";
  std::string finding;              ///< the evidence for this finding, instead of a kind
  std::string experiment;           ///< what this probe measured, instead of a kind
  std::vector<std::string> series;  ///< names; empty: what suits the kind
  Wishes wishes;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  bool log = false;
  bool linear = false;
};

/// Fails when there is no such kind or finding, before anything is read.
[[nodiscard]] Result<void> check(const Drawing& drawing);
/// The figure of a run, its findings marked.
[[nodiscard]] Result<Figure> draw(const Drawing& drawing, const Run& run);

/// A file of this name in the current folder: "runs/exp 42/log.csv" and "curves.png" give "exp-42-curves.png". Named
/// after the file where the path has no telling folder.
[[nodiscard]] std::string default_output(const Run& run, std::string_view ending);

/// The type of the file `path`; fails when its ending is none that we draw.
[[nodiscard]] Result<FigureType> output_type(const std::string& path);

/// The theme called `word`.
[[nodiscard]] Result<FigureTheme> to_theme(const std::string& word);

}  // namespace osler::cli
