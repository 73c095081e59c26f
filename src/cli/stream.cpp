// A pipe being read, which Ctrl-C can end while it waits.
#include "cli/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace osler::cli {
namespace {

class Stream final : public ReadableFile {
 public:
  Stream(int descriptor, bool owned, int interrupt, int cancel, std::string name)
      : descriptor_(descriptor), owned_(owned), interrupt_(interrupt), cancel_(cancel), name_(std::move(name)) {}
  ~Stream() override {
    if (owned_) ::close(descriptor_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    for (;;) {
      std::array<pollfd, 3> waiting = {pollfd{descriptor_, POLLIN, 0}, pollfd{interrupt_, POLLIN, 0},
                                       pollfd{cancel_, POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return failure();
      }
      if (waiting[1].revents != 0 || waiting[2].revents != 0) return std::size_t{0};
      const ssize_t length = ::read(descriptor_, buffer.data(), buffer.size());
      if (length >= 0) return static_cast<std::size_t>(length);
      if (errno != EINTR && errno != EAGAIN) return failure();
    }
  }

  Result<void> seek(std::uint64_t) override {
    return Error{ErrorCode::unsupported, "a pipe can only be read from front to back", name_};
  }

  [[nodiscard]] Result<FileInfo> info() const override { return FileInfo{.kind = FileKind::pipe}; }

 private:
  [[nodiscard]] Error failure() const { return {ErrorCode::io, std::strerror(errno), name_}; }

  int descriptor_;
  bool owned_;
  int interrupt_;
  int cancel_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<ReadableFile>> open_stream(const std::filesystem::path& path, int interrupt, int cancel) {
  if (path == "-") {
    return std::unique_ptr<ReadableFile>(
        std::make_unique<Stream>(STDIN_FILENO, false, interrupt, cancel, "standard input"));
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return Error{ErrorCode::io, std::strerror(errno), path.string()};
  return std::unique_ptr<ReadableFile>(std::make_unique<Stream>(descriptor, true, interrupt, cancel, path.string()));
}

}  // namespace osler::cli
