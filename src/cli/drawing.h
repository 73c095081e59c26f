// What the verbs that draw share: where a figure goes, and how it is written.
#pragma once

#include <string>
#include <string_view>

#include "osler/base/result.h"
#include "osler/report/figure.h"
#include "osler/run/run.h"

namespace osler::cli {

/// A file of this name in the current folder: "runs/exp 42/log.csv" and "curves.png" give "exp-42-curves.png". Named
/// after the file where the path has no telling folder.
[[nodiscard]] std::string default_output(const Run& run, std::string_view ending);

/// The type of the file `path`; fails when its ending is none that we draw.
[[nodiscard]] Result<FigureType> output_type(const std::string& path);

/// The theme called `word`.
[[nodiscard]] Result<FigureTheme> to_theme(const std::string& word);

/// Writes `bytes` to a file.
[[nodiscard]] Result<void> write_output(const std::string& path, std::string_view bytes);

}  // namespace osler::cli
