// From the paths on the command line to the runs they name.
#pragma once

#include <string>
#include <vector>

#include "osler/base/error.h"
#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/read.h"

namespace osler::cli {

/// One run to examine: found in files, or waiting in a pipe.
struct Input {
  std::string name;
  RunSource source;    ///< when `stream` is empty
  std::string stream;  ///< "-" or the path of a pipe
};

/// Everything the paths name, and what could not be found.
struct Inputs {
  std::vector<Input> runs;
  std::vector<Error> failures;
};

/// Finds the runs at `paths`. A path that does not exist but holds *, ? or [ is a pattern that the shell did not
/// expand. A run named twice is examined once.
[[nodiscard]] Inputs find_inputs(FileSystem& files, const std::vector<std::string>& paths, const ReadOptions& options);

/// The paths that match a pattern, sorted; the path itself when it is no pattern or exists as it is.
[[nodiscard]] Result<std::vector<std::string>> expand(FileSystem& files, const std::string& path);

}  // namespace osler::cli
