// FollowedRunFile: a run file that is read while a training records into it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "osler/base/file_system.h"
#include "osler/run/run.h"
#include "osler/runfile/reader.h"

namespace osler::cli {

/// The run in a run file as far as it was committed. One thread at a time.
class FollowedRunFile {
 public:
  FollowedRunFile(std::filesystem::path path, const RunLimits& limits);

  /// Reads what was committed since the last call; true when the run changed. A file that was replaced is read anew;
  /// one that cannot be read, because it is just being made for instance, is tried again.
  bool read_new();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Run& run() const { return run_; }
  /// When it last changed, in seconds since the Unix epoch; 0 before the first look.
  [[nodiscard]] double modified_seconds() const { return modified_seconds_; }

 private:
  void begin_anew();

  std::filesystem::path path_;
  RunLimits limits_;
  Run run_;
  std::optional<RunFileReader> reader_;
  std::uint64_t inode_ = 0;
  double modified_seconds_ = 0;
};

}  // namespace osler::cli
