// From the paths on the command line to the runs they name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "osler/base/error.h"
#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/read.h"

namespace osler::cli {

/// One run to examine: found in files, waiting in a pipe, or kept in a run file.
struct Input {
  std::string name;
  RunSource source;      ///< when the others are empty
  std::string stream;    ///< "-" or the path of a pipe
  std::string run_file;  ///< the path of a run file
};

/// Everything the paths name, and what could not be found.
struct Inputs {
  std::vector<Input> runs;
  std::vector<Error> failures;
};

/// Finds the runs at `paths`. A path that does not exist but holds *, ? or [ is a pattern that the shell did not
/// expand. A run named twice is examined once. Run files are recognised here and not by the formats, which know logs of
/// other programs alone.
[[nodiscard]] Inputs find_inputs(FileSystem& files, const std::vector<std::string>& paths, const ReadOptions& options);

/// The run files that `path` names: itself, or those below a folder, sorted; symbolic links are not followed.
[[nodiscard]] std::vector<std::filesystem::path> find_run_files(FileSystem& files, const std::filesystem::path& path);

/// The paths that match a pattern, sorted; the path itself when it is no pattern or exists as it is.
[[nodiscard]] Result<std::vector<std::string>> expand(FileSystem& files, const std::string& path);

}  // namespace osler::cli
