// From paths to runs: find what can be read, and read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/format.h"
#include "osler/run/run.h"

namespace osler {

/// One file of a run and the format it is in.
struct SourceFile {
  std::filesystem::path path;
  const Format* format = nullptr;
  std::string run = {};  ///< which run of a file that holds several; empty when the file is one run or part of one
};

/// A run that was found but not read yet.
struct RunSource {
  std::string name;               ///< its path, as short as it can be told from the others
  std::vector<SourceFile> files;  ///< in the order they are to be read
  bool doubtful = false;          ///< found beside others, and perhaps no log at all
};

/// How far reading has come.
struct ReadProgress {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_total = 0;  ///< 0 when unknown (a pipe)
  std::uint64_t events = 0;
};

/// Options for finding and reading runs.
struct ReadOptions {
  std::string format;  ///< the id of a format to use without sniffing; empty: sniff
  RunLimits limits;
  std::function<void(const ReadProgress&)> progress;  ///< called now and then from the reading thread; may be empty
  std::stop_token stop;           ///< reading ends early, with what it has, when a stop is requested
  bool follow_links_out = false;  ///< also search behind symbolic links that lead out of a folder
  std::string other_ending;       ///< files with this ending in a folder are listed apart and not looked into
};

/// A file or folder that a search passed over, and why.
struct LeftOut {
  std::filesystem::path path;
  std::string why;
};

/// Everything a search found, and what it did not take.
struct Survey {
  std::vector<RunSource> runs;
  std::vector<std::filesystem::path> others;  ///< files with ReadOptions::other_ending
  std::vector<LeftOut> left_out;              ///< what a person might miss; side files that are no logs are not told
  std::vector<Error> unreadable;              ///< files and folders that could not be looked into
};

/// The runs at `path`: a file, a directory (searched to the bottom), or "-".
/// When nothing is recognised the error says what was tried, what the first lines were and how to name the format.
[[nodiscard]] Result<std::vector<RunSource>> discover(FileSystem& files, const std::filesystem::path& path,
                                                      const ReadOptions& options = {});

/// The same with an account of what was not taken. Fails only when there is neither a run nor a file with the other
/// ending.
[[nodiscard]] Result<Survey> survey(FileSystem& files, const std::filesystem::path& path,
                                    const ReadOptions& options = {});

/// Reads a run into any sink. Damage that could be stepped over is added to `damage`; an error means that nothing
/// useful was read.
[[nodiscard]] Result<void> read_events(FileSystem& files, const RunSource& source, EventSink& sink,
                                       DamageReport& damage, const ReadOptions& options = {});

/// Reads a run in bounded memory.
[[nodiscard]] Result<Run> read_run(FileSystem& files, const RunSource& source, const ReadOptions& options = {});

/// Reads the only run of an open stream (standard input, a pipe), sniffing its first bytes.
[[nodiscard]] Result<Run> read_stream(ReadableFile& stream, const std::string& name, const ReadOptions& options = {});

}  // namespace osler
