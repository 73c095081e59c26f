// The operating system's files, through POSIX calls.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "osler/base/file_system.h"

namespace osler {
namespace {

Error system_error(const FileSystem::Path& path, int number) {
  const ErrorCode code = number == ENOENT || number == ENOTDIR ? ErrorCode::not_found : ErrorCode::io;
  return {code, std::generic_category().message(number), path.string()};
}

FileInfo to_info(const struct stat& status) {
  FileInfo info;
  if (S_ISREG(status.st_mode)) info.kind = FileKind::regular;
  if (S_ISDIR(status.st_mode)) info.kind = FileKind::directory;
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode)) info.kind = FileKind::pipe;
  info.size_bytes = static_cast<std::uint64_t>(status.st_size);
  info.device = status.st_dev;
  info.inode = status.st_ino;
  info.modified_seconds =
      static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
  return info;
}

/// Owns a descriptor and remembers the path for error messages.
class Descriptor {
 public:
  Descriptor(int number, FileSystem::Path path) : number_(number), path_(std::move(path)) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)), path_(std::move(other.path_)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] Error last_error() const { return system_error(path_, errno); }

 private:
  int number_;
  FileSystem::Path path_;
};

class RealReadableFile final : public ReadableFile {
 public:
  explicit RealReadableFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    for (;;) {
      const ssize_t length = ::read(descriptor_.number(), buffer.data(), buffer.size());
      if (length >= 0) return static_cast<std::size_t>(length);
      if (errno != EINTR) return descriptor_.last_error();
    }
  }

  Result<void> seek(std::uint64_t offset) override {
    if (::lseek(descriptor_.number(), static_cast<off_t>(offset), SEEK_SET) < 0) return descriptor_.last_error();
    return {};
  }

  [[nodiscard]] Result<FileInfo> info() const override {
    struct stat status {};
    if (::fstat(descriptor_.number(), &status) != 0) return descriptor_.last_error();
    return to_info(status);
  }

 private:
  Descriptor descriptor_;
};

class RealWritableFile final : public WritableFile {
 public:
  explicit RealWritableFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Result<void> append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t length = ::write(descriptor_.number(), bytes.data(), bytes.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return descriptor_.last_error();
      bytes = bytes.subspan(static_cast<std::size_t>(length));
    }
    return {};
  }

  Result<void> sync() override {
    if (::fsync(descriptor_.number()) != 0) return descriptor_.last_error();
    return {};
  }

 private:
  Descriptor descriptor_;
};

class RealFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> open_read(const Path& path) override {
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) return system_error(path, errno);
    return std::unique_ptr<ReadableFile>(std::make_unique<RealReadableFile>(Descriptor(number, path)));
  }

  Result<std::unique_ptr<WritableFile>> open_write(const Path& path, WriteMode mode) override {
    const int how = mode == WriteMode::truncate ? O_TRUNC : O_APPEND;
    const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (number < 0) return system_error(path, errno);
    return std::unique_ptr<WritableFile>(std::make_unique<RealWritableFile>(Descriptor(number, path)));
  }

  Result<FileInfo> info(const Path& path) override {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return system_error(path, errno);
    return to_info(status);
  }

  Result<std::vector<std::string>> list(const Path& directory) override {
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) return system_error(directory, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
    }
    const int failure = errno;  // the only way readdir tells an error from the end
    ::closedir(stream);
    if (failure != 0) return system_error(directory, failure);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> make_directory(const Path& path) override {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) return system_error(path, failure.value());
    return {};
  }

  Result<void> rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return system_error(from, errno);
    return {};
  }

  Result<void> remove(const Path& path) override {
    if (::unlink(path.c_str()) != 0) return system_error(path, errno);
    return {};
  }
};

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem files;
  return files;
}

Result<std::string> read_whole(FileSystem& files, const FileSystem::Path& path, std::uint64_t limit_bytes) {
  auto file = files.open_read(path);
  if (!file) return file.error();
  std::string text;
  constexpr std::uint64_t kChunk = 64 * 1024;
  const auto chunk = static_cast<std::size_t>(std::min(kChunk, limit_bytes + 1));  // one more shows that it is too long
  for (;;) {
    const std::size_t filled = text.size();
    text.resize(filled + chunk);
    const auto length = (*file)->read(std::as_writable_bytes(std::span(text).subspan(filled)));
    if (!length) return length.error();
    text.resize(filled + *length);
    if (*length == 0) return text;
    if (text.size() > limit_bytes) {
      return Error{ErrorCode::unsupported, "larger than " + std::to_string(limit_bytes) + " bytes", path.string()};
    }
  }
}

}  // namespace osler
