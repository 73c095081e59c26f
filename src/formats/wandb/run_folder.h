// The folder of a W&B run, from the path of one of its files.
#pragma once

#include <filesystem>

namespace osler {

/// Run files lie in the run's folder, or in `files` or `logs` below it.
[[nodiscard]] inline std::filesystem::path wandb_run_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.filename() == "files" || folder.filename() == "logs" ? folder.parent_path() : folder;
}

}  // namespace osler
