// One way in: a log of any format, a folder, a pattern, a pipe or a run file becomes runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "osler/base/error.h"
#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/read.h"
#include "osler/run/run.h"

namespace osler {

/// Where one run is: in the files of a log, in a pipe, or in a run file.
struct Source {
  std::string name;      ///< its path, as short as it can be told from the others
  RunSource log;         ///< when the others are empty
  std::string stream;    ///< "-" or the path of a pipe
  std::string run_file;  ///< the path of a run file
};

/// Everything that some paths name, and what could not be found.
struct Sources {
  std::vector<Source> runs;
  std::vector<Error> failures;    ///< paths without a run, and files and folders that may not be read
  std::vector<LeftOut> left_out;  ///< what lies there and was not taken for a run
};

/// Reads the only run at `path`: a log, a run file, a folder with one run, a pattern that one run matches, a pipe, or
/// "-". Where there are several, the error names some of them.
[[nodiscard]] Result<Run> read(const std::string& path, const ReadOptions& options = {});

/// Finds the runs at `paths`. A path that does not exist but holds *, ? or [ is a pattern that the shell did not
/// expand. A run named twice is found once.
[[nodiscard]] Sources find_sources(FileSystem& files, const std::vector<std::string>& paths,
                                   const ReadOptions& options = {});

/// Reads one run that was found.
[[nodiscard]] Result<Run> read_source(FileSystem& files, const Source& source, const ReadOptions& options = {});

/// The error for a path at which one run was asked for and `sources` holds none or several.
[[nodiscard]] Error not_one_run(const Sources& sources, const std::string& path);

/// How folders are searched: run files are listed beside the logs, and links are followed wherever they lead.
[[nodiscard]] ReadOptions for_search(ReadOptions options);

/// Whether a run file lies at `path`: known by its first bytes, or, where it is damaged, by its name.
[[nodiscard]] bool names_run_file(FileSystem& files, const std::filesystem::path& path);

/// The paths that match a pattern, sorted; the path itself when it is no pattern or exists as it is.
[[nodiscard]] Result<std::vector<std::string>> expand(FileSystem& files, const std::string& path);

}  // namespace osler
