// Fault injection: each file wraps the inner one and applies the plan at its own offset.
#include "base/faulty_file_system.h"

#include <algorithm>

namespace osler {
namespace {

/// A cut file also looks as short as it reads.
Result<FileInfo> cut(Result<FileInfo> info, const FaultPlan& plan) {
  if (info && info->kind == FileKind::regular) info->size_bytes = std::min(info->size_bytes, plan.cut_at);
  return info;
}

class FaultyReadableFile final : public ReadableFile {
 public:
  FaultyReadableFile(std::unique_ptr<ReadableFile> inner, const FaultPlan& plan)
      : inner_(std::move(inner)), plan_(plan) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    if (offset_ >= plan_.fail_read_at) return Error{ErrorCode::io, "injected read failure", ""};
    const std::uint64_t end = std::min(plan_.cut_at, plan_.fail_read_at);
    const std::uint64_t allowed = end > offset_ ? end - offset_ : 0;
    const std::size_t wanted = std::min({buffer.size(), plan_.longest_read, static_cast<std::size_t>(allowed)});
    if (wanted == 0) return std::size_t{0};
    auto length = inner_->read(buffer.first(wanted));
    if (!length) return length;
    if (plan_.flip_bit_at >= offset_ && plan_.flip_bit_at < offset_ + *length) {
      buffer[static_cast<std::size_t>(plan_.flip_bit_at - offset_)] ^= std::byte{1};
    }
    offset_ += *length;
    return length;
  }

  Result<void> seek(std::uint64_t offset) override {
    auto moved = inner_->seek(offset);
    if (moved) offset_ = offset;
    return moved;
  }

  [[nodiscard]] Result<FileInfo> info() const override { return cut(inner_->info(), plan_); }

 private:
  std::unique_ptr<ReadableFile> inner_;
  FaultPlan plan_;
  std::uint64_t offset_ = 0;
};

class FaultyWritableFile final : public WritableFile {
 public:
  FaultyWritableFile(std::unique_ptr<WritableFile> inner, const FaultPlan& plan, std::atomic<std::uint64_t>& space_left)
      : inner_(std::move(inner)), plan_(plan), space_left_(space_left) {}

  Result<void> append(std::span<const std::byte> bytes) override {
    if (plan_.disk_space == FaultPlan::kNever) return inner_->append(bytes);
    std::uint64_t left = space_left_.load();
    std::uint64_t taken = 0;
    do {
      taken = std::min<std::uint64_t>(left, bytes.size());
    } while (!space_left_.compare_exchange_weak(left, left - taken));
    // A full disk takes what fits before it refuses.
    auto written = inner_->append(bytes.first(static_cast<std::size_t>(taken)));
    if (!written || taken == bytes.size()) return written;
    return Error{ErrorCode::io, "injected: no space left on device", ""};
  }

  Result<void> sync() override {
    if (plan_.fail_sync) return Error{ErrorCode::io, "injected sync failure", ""};
    return inner_->sync();
  }

 private:
  std::unique_ptr<WritableFile> inner_;
  FaultPlan plan_;
  std::atomic<std::uint64_t>& space_left_;
};

}  // namespace

Result<std::unique_ptr<ReadableFile>> FaultyFileSystem::open_read(const Path& path) {
  if (plan_.fail_open) return Error{ErrorCode::io, "injected open failure", path.string()};
  auto file = inner_.open_read(path);
  if (!file) return file;
  return std::unique_ptr<ReadableFile>(std::make_unique<FaultyReadableFile>(std::move(*file), plan_));
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open_write(const Path& path, WriteMode mode) {
  if (plan_.fail_open) return Error{ErrorCode::io, "injected open failure", path.string()};
  auto file = inner_.open_write(path, mode);
  if (!file) return file;
  return std::unique_ptr<WritableFile>(std::make_unique<FaultyWritableFile>(std::move(*file), plan_, space_left_));
}

Result<FileInfo> FaultyFileSystem::info(const Path& path) {
  return cut(inner_.info(path), plan_);
}

}  // namespace osler
