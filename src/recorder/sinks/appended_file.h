// AppendedFile: a file that sinks append to, which stays as it is after a failure.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "osler/base/file_system.h"
#include "osler/base/result.h"

namespace osler::recording {

/// After a failed write an unknown part of it is in the file, so nothing may follow it: the same failure is told again.
class AppendedFile {
 public:
  AppendedFile(std::unique_ptr<WritableFile> file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  [[nodiscard]] Result<void> append(std::string_view bytes) {
    if (failure_) return *failure_;
    if (bytes.empty()) return {};
    auto written = file_->append(std::as_bytes(std::span(bytes)));
    if (!written) failure_ = written.error();
    return written;
  }
  [[nodiscard]] Result<void> sync() {
    if (failure_) return *failure_;
    return file_->sync();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::unique_ptr<WritableFile> file_;
  std::filesystem::path path_;
  std::optional<Error> failure_;
};

/// Opens a file for a sink; its folder is made.
[[nodiscard]] inline Result<AppendedFile> open_appended(FileSystem& files, const std::filesystem::path& path,
                                                        WriteMode mode) {
  if (path.has_parent_path()) {
    if (const auto made = files.make_directory(path.parent_path()); !made) return made.error();
  }
  auto file = files.open_write(path, mode);
  if (!file) return file.error();
  return AppendedFile(std::move(*file), path);
}

}  // namespace osler::recording
