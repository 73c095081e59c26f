// GeneratedFiles: a file system with one file of any length that is made up while it is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "osler/base/file_system.h"

namespace osler::testing {

/// Appends the record with that number to the text.
using MakeRecord = std::function<void(std::uint64_t number, std::string& text)>;

/// Makes records until at least `size_bytes` were read.
class GeneratedFile final : public ReadableFile {
 public:
  GeneratedFile(MakeRecord make, std::uint64_t size_bytes) : make_(std::move(make)), size_bytes_(size_bytes) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      if (taken_ == made_.size()) {
        if (given_ + filled >= size_bytes_) break;
        made_.clear();
        taken_ = 0;
        while (made_.size() < kAtOnce) make_(number_++, made_);
      }
      const std::size_t length = std::min(buffer.size() - filled, made_.size() - taken_);
      std::memcpy(buffer.data() + filled, made_.data() + taken_, length);
      taken_ += length;
      filled += length;
    }
    given_ += filled;
    return filled;
  }
  Result<void> seek(std::uint64_t) override { return Error{ErrorCode::unsupported, "it is made up", {}}; }
  [[nodiscard]] Result<FileInfo> info() const override { return FileInfo{FileKind::regular, size_bytes_, 1, 1, 0}; }

 private:
  static constexpr std::size_t kAtOnce = std::size_t{1} << 18;

  MakeRecord make_;
  std::uint64_t size_bytes_;
  std::uint64_t given_ = 0;
  std::uint64_t number_ = 0;
  std::string made_;
  std::size_t taken_ = 0;
};

/// Every path names the same generated file; nothing can be written.
class GeneratedFiles final : public FileSystem {
 public:
  GeneratedFiles(MakeRecord make, std::uint64_t size_bytes) : make_(std::move(make)), size_bytes_(size_bytes) {}

  Result<std::unique_ptr<ReadableFile>> open_read(const Path&) override {
    return std::unique_ptr<ReadableFile>(std::make_unique<GeneratedFile>(make_, size_bytes_));
  }
  Result<std::unique_ptr<WritableFile>> open_write(const Path&, WriteMode) override { return refusal(); }
  Result<FileInfo> info(const Path&) override { return FileInfo{FileKind::regular, size_bytes_, 1, 1, 0}; }
  Result<std::vector<std::string>> list(const Path&) override { return std::vector<std::string>{}; }
  Result<void> make_directory(const Path&) override { return refusal(); }
  Result<void> rename(const Path&, const Path&) override { return refusal(); }
  Result<void> remove(const Path&) override { return refusal(); }

 private:
  static Error refusal() { return {ErrorCode::unsupported, "nothing can be written here", {}}; }

  MakeRecord make_;
  std::uint64_t size_bytes_;
};

}  // namespace osler::testing
