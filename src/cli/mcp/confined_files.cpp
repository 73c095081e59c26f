// ConfinedFiles: every path is resolved before anything is asked of it.
#include "cli/mcp/confined_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace osler::cli::mcp {
namespace {

bool lies_in(const FileSystem::Path& real, const FileSystem::Path& root) {
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

Error only_reads(const FileSystem::Path& path) {
  return {ErrorCode::invalid_argument, "this server only reads", path.string()};
}

}  // namespace

Result<ConfinedFiles> ConfinedFiles::below(const std::vector<std::string>& roots) {
  std::vector<Path> real;
  for (const std::string& root : roots) {
    std::error_code failure;
    const Path path = std::filesystem::canonical(root, failure);
    if (failure) return Error{ErrorCode::not_found, failure.message(), root};
    if (!std::filesystem::is_directory(path, failure))
      return Error{ErrorCode::invalid_argument, "is not a folder", root};
    real.push_back(path);
  }
  if (real.empty()) return Error{ErrorCode::invalid_argument, "there is no folder to read from", "--root"};
  return ConfinedFiles(std::move(real));
}

std::string ConfinedFiles::place(const std::string& path) const {
  return (roots_.front() / path).lexically_normal().string();
}

std::string ConfinedFiles::shown(const std::string& path) const {
  const Path relative = Path(path).lexically_relative(roots_.front());
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : path;
}

Result<FileSystem::Path> ConfinedFiles::inside(const Path& path) const {
  std::error_code failure;
  Path real = std::filesystem::weakly_canonical(path, failure);
  const bool fine =
      !failure && std::any_of(roots_.begin(), roots_.end(), [&real](const Path& root) { return lies_in(real, root); });
  if (fine) return real;
  return Error{ErrorCode::invalid_argument, "lies outside the folders that this server may read (osler mcp --root)",
               path.string()};
}

Result<std::unique_ptr<ReadableFile>> ConfinedFiles::open_read(const Path& path) {
  const auto real = inside(path);
  if (!real) return real.error();
  return real_file_system().open_read(*real);
}

Result<FileInfo> ConfinedFiles::info(const Path& path) {
  if (const auto real = inside(path); !real) return real.error();
  return real_file_system().info(path);
}

Result<std::vector<std::string>> ConfinedFiles::list(const Path& directory) {
  const auto real = inside(directory);
  if (!real) return real.error();
  return real_file_system().list(*real);
}

Result<std::unique_ptr<WritableFile>> ConfinedFiles::open_write(const Path& path, WriteMode) {
  return only_reads(path);
}

Result<void> ConfinedFiles::make_directory(const Path& path) {
  return only_reads(path);
}

Result<void> ConfinedFiles::rename(const Path& from, const Path&) {
  return only_reads(from);
}

Result<void> ConfinedFiles::remove(const Path& path) {
  return only_reads(path);
}

}  // namespace osler::cli::mcp
