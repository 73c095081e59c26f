// FaultyFileSystem: wraps another file system and breaks it on purpose.
#pragma once

#include <atomic>
#include <limits>

#include "osler/base/file_system.h"

namespace osler {

/// The faults to inject; the default injects none.
struct FaultPlan {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t fail_read_at = kNever;  ///< reads reaching this offset fail with `io`
  std::uint64_t cut_at = kNever;        ///< files appear to end at this offset
  std::uint64_t flip_bit_at = kNever;   ///< the lowest bit of the byte at this offset is inverted on reading
  std::size_t longest_read = std::numeric_limits<std::size_t>::max();  ///< reads return at most this many bytes
  std::uint64_t disk_space = kNever;  ///< bytes that may still be appended, over all files, before "no space"
  bool fail_sync = false;             ///< every sync fails
  bool fail_open = false;             ///< every open fails with `io`
};

/// A file system with faults. Owns nothing: `inner` must outlive it. Safe to use from several threads.
class FaultyFileSystem final : public FileSystem {
 public:
  FaultyFileSystem(FileSystem& inner, FaultPlan plan) : inner_(inner), plan_(plan), space_left_(plan.disk_space) {}

  [[nodiscard]] Result<std::unique_ptr<ReadableFile>> open_read(const Path& path) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_write(const Path& path, WriteMode mode) override;
  [[nodiscard]] Result<FileInfo> info(const Path& path) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const Path& directory) override { return inner_.list(directory); }
  [[nodiscard]] Result<void> make_directory(const Path& path) override { return inner_.make_directory(path); }
  [[nodiscard]] Result<void> rename(const Path& from, const Path& to) override { return inner_.rename(from, to); }
  [[nodiscard]] Result<void> remove(const Path& path) override { return inner_.remove(path); }

 private:
  FileSystem& inner_;
  FaultPlan plan_;
  std::atomic<std::uint64_t> space_left_;
};

}  // namespace osler
