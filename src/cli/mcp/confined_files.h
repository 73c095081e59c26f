// ConfinedFiles: the files below some folders, and nothing else, to be read only.
#pragma once

#include <string>
#include <vector>

#include "osler/base/file_system.h"

namespace osler::cli::mcp {

/// Lets through what lies in one of its folders, however it is named: links are followed before it is decided. Whether
/// there is something outside is not told.
class ConfinedFiles final : public FileSystem {
 public:
  /// Fails when a root is no folder.
  [[nodiscard]] static Result<ConfinedFiles> below(const std::vector<std::string>& roots);

  [[nodiscard]] Result<std::unique_ptr<ReadableFile>> open_read(const Path& path) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_write(const Path& path, WriteMode mode) override;
  [[nodiscard]] Result<FileInfo> info(const Path& path) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const Path& directory) override;
  [[nodiscard]] Result<void> make_directory(const Path& path) override;
  [[nodiscard]] Result<void> rename(const Path& from, const Path& to) override;
  [[nodiscard]] Result<void> remove(const Path& path) override;

  /// A path as a client writes it: relative ones begin at the first root, and nothing is the first root itself.
  [[nodiscard]] std::string place(const std::string& path) const;
  /// The other way round: as short as the client may write it.
  [[nodiscard]] std::string shown(const std::string& path) const;
  /// Where the path really leads; fails outside.
  [[nodiscard]] Result<Path> inside(const Path& path) const;
  [[nodiscard]] const std::vector<Path>& roots() const { return roots_; }

 private:
  explicit ConfinedFiles(std::vector<Path> roots) : roots_(std::move(roots)) {}

  std::vector<Path> roots_;  // canonical
};

}  // namespace osler::cli::mcp
