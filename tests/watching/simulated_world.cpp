// Files in memory.
#include "watching/simulated_world.h"

#include <algorithm>
#include <cstring>

namespace osler::watching {

struct MemoryFiles::File {
  std::string bytes;
  std::uint64_t inode = 0;
  double modified = 0;

  [[nodiscard]] FileInfo info() const { return {FileKind::regular, bytes.size(), 1, inode, modified}; }
};

namespace {

Error missing(const FileSystem::Path& path) {
  return {ErrorCode::not_found, "No such file or directory", path.string()};
}
Error read_only(const FileSystem::Path& path) {
  return {ErrorCode::io, "only the simulation writes here", path.string()};
}

class MemoryFile final : public ReadableFile {
 public:
  explicit MemoryFile(std::shared_ptr<MemoryFiles::File> file) : file_(std::move(file)) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    const std::size_t start = std::min<std::size_t>(offset_, file_->bytes.size());
    const std::size_t length = std::min(buffer.size(), file_->bytes.size() - start);
    std::memcpy(buffer.data(), file_->bytes.data() + start, length);
    offset_ = start + length;
    return length;
  }
  Result<void> seek(std::uint64_t offset) override {
    offset_ = offset;
    return {};
  }
  [[nodiscard]] Result<FileInfo> info() const override { return file_->info(); }

 private:
  std::shared_ptr<MemoryFiles::File> file_;
  std::uint64_t offset_ = 0;
};

}  // namespace

void MemoryFiles::append(const std::string& name, const std::string& text) {
  std::shared_ptr<File>& file = files_[name];
  if (file == nullptr) file = std::make_shared<File>(File{{}, next_inode_++, 0});
  file->bytes += text;
  file->modified = clock_.wall();
}

void MemoryFiles::move(const std::string& from, const std::string& to) {
  const auto found = files_.find(from);
  if (found == files_.end()) return;
  files_[to] = found->second;
  files_.erase(from);
}

void MemoryFiles::empty(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return;
  found->second->bytes.clear();
  found->second->modified = clock_.wall();
}

std::shared_ptr<MemoryFiles::File> MemoryFiles::find(const Path& path) const {
  if (path.parent_path() != folder_) return nullptr;
  const auto found = files_.find(path.filename().string());
  return found == files_.end() ? nullptr : found->second;
}

Result<std::unique_ptr<ReadableFile>> MemoryFiles::open_read(const Path& path) {
  auto file = find(path);
  if (file == nullptr) return missing(path);
  return std::unique_ptr<ReadableFile>(std::make_unique<MemoryFile>(std::move(file)));
}

Result<std::unique_ptr<WritableFile>> MemoryFiles::open_write(const Path& path, WriteMode /*mode*/) {
  return read_only(path);
}

Result<FileInfo> MemoryFiles::info(const Path& path) {
  if (path == folder_) return FileInfo{FileKind::directory, 0, 1, 1, clock_.wall()};
  const auto file = find(path);
  if (file == nullptr) return missing(path);
  return file->info();
}

Result<std::vector<std::string>> MemoryFiles::list(const Path& directory) {
  if (directory != folder_) return missing(directory);
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) names.push_back(name);
  return names;
}

Result<void> MemoryFiles::make_directory(const Path& path) {
  return read_only(path);
}
Result<void> MemoryFiles::rename(const Path& from, const Path& /*to*/) {
  return read_only(from);
}
Result<void> MemoryFiles::remove(const Path& path) {
  return read_only(path);
}

}  // namespace osler::watching
