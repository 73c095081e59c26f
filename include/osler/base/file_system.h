// FileSystem: all access to files goes through this interface, so that faults can be injected in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "osler/base/result.h"

namespace osler {

/// What kind of thing a path names.
enum class FileKind { regular, directory, pipe, other };

/// What is known of a path without opening it.
struct FileInfo {
  FileKind kind = FileKind::other;
  std::uint64_t size_bytes = 0;
  std::uint64_t device = 0;  ///< with `inode`, tells whether a path still names the same file
  std::uint64_t inode = 0;
  double modified_seconds = 0;  ///< seconds since the Unix epoch
};

/// A file being read from front to back. One thread at a time.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  /// Reads up to `buffer.size()` bytes; 0 means the end for now: a growing file may give more later.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> buffer) = 0;
  /// Moves the read position of a regular file.
  [[nodiscard]] virtual Result<void> seek(std::uint64_t offset) = 0;
  /// What the open file is, even when its path was renamed or removed meanwhile.
  [[nodiscard]] virtual Result<FileInfo> info() const = 0;
};

/// A file being written from front to back. One thread at a time.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// Writes all of `bytes`, or fails; after a failure an unknown part of them is in the file.
  [[nodiscard]] virtual Result<void> append(std::span<const std::byte> bytes) = 0;
  /// Returns when everything appended is on the device.
  [[nodiscard]] virtual Result<void> sync() = 0;
};

/// How a file is opened for writing.
enum class WriteMode { truncate, append };

/// Access to files. Implementations may be used from several threads.
class FileSystem {
 public:
  using Path = std::filesystem::path;

  virtual ~FileSystem() = default;

  [[nodiscard]] virtual Result<std::unique_ptr<ReadableFile>> open_read(const Path& path) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<WritableFile>> open_write(const Path& path, WriteMode mode) = 0;
  [[nodiscard]] virtual Result<FileInfo> info(const Path& path) = 0;
  /// The names in a directory, sorted, without "." and "..".
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const Path& directory) = 0;
  /// Creates a directory and its parents; fine when it exists.
  [[nodiscard]] virtual Result<void> make_directory(const Path& path) = 0;
  /// Atomically replaces `to` by `from`.
  [[nodiscard]] virtual Result<void> rename(const Path& from, const Path& to) = 0;
  [[nodiscard]] virtual Result<void> remove(const Path& path) = 0;
};

/// The operating system's files. Lives for the whole program.
[[nodiscard]] FileSystem& real_file_system();

/// The whole of a file, or an error when it is larger than `limit_bytes`.
[[nodiscard]] Result<std::string> read_whole(FileSystem& files, const FileSystem::Path& path,
                                             std::uint64_t limit_bytes);

}  // namespace osler
