// Writing and reading the envelope of a checkpoint.
#include "torch/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crc32c.h"

namespace osler::torch {
namespace {

// mark (8 bytes), the archive, its length (8 bytes), its CRC-32C (4 bytes), end mark (8 bytes); numbers little-endian.
constexpr std::array<char, 8> kMark = {'O', 'S', 'L', 'E', 'R', 'C', 'K', '1'};
constexpr std::array<char, 8> kEnd = {'O', 'S', 'L', 'E', 'R', 'C', 'K', '.'};
constexpr std::uint64_t kTail = 8 + 4 + kEnd.size();
static_assert(std::endian::native == std::endian::little);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// Appends to a file, and remembers the first failure: LibTorch's writer must not be interrupted, because it writes on
/// in its destructor.
class Writing {
 public:
  explicit Writing(WritableFile& file) : file_(file) {}

  void append(std::span<const std::byte> bytes) {
    if (failure_) return;
    if (Result<void> done = file_.append(bytes); !done) failure_ = done.error();
  }
  void append_archive(::torch::serialize::OutputArchive& archive) {
    archive.save_to([this](const void* data, std::size_t size) {
      const std::span bytes(static_cast<const std::byte*>(data), size);
      crc_ = crc32c(bytes, crc_);
      length_ += size;
      append(bytes);
      return size;
    });
  }
  void append_tail() {
    append(bytes_of(length_));
    append(bytes_of(crc_));
    append(bytes_of(kEnd));
  }
  Result<void> finish() {
    if (failure_) return *failure_;
    return file_.sync();
  }

 private:
  WritableFile& file_;
  std::uint64_t length_ = 0;
  std::uint32_t crc_ = 0;
  std::optional<Error> failure_;
};

Result<void> write_whole(FileSystem& files, const std::filesystem::path& path,
                         ::torch::serialize::OutputArchive& archive) {
  Result<std::unique_ptr<WritableFile>> file = files.open_write(path, WriteMode::truncate);
  if (!file) return file.error();
  Writing writing(**file);
  writing.append(bytes_of(kMark));
  try {
    writing.append_archive(archive);
  } catch (const std::exception& error) {
    // LibTorch's own words go on for a screen of addresses.
    const std::string words = error.what();
    return Error{ErrorCode::internal, "LibTorch cannot write this state: " + words.substr(0, words.find('\n')),
                 path.string()};
  }
  writing.append_tail();
  return writing.finish();
}

/// Fills the buffer from an offset; short when the file is.
Result<std::size_t> read_at(ReadableFile& file, std::uint64_t offset, std::span<std::byte> buffer) {
  if (Result<void> moved = file.seek(offset); !moved) return moved.error();
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const Result<std::size_t> read = file.read(buffer.subspan(filled));
    if (!read) return read.error();
    if (*read == 0) break;
    filled += *read;
  }
  return filled;
}

Error corrupt(const std::filesystem::path& path, std::string text) {
  return {ErrorCode::corrupt, std::move(text), path.string()};
}

/// The length of the archive, when the envelope is whole and the checksum holds.
Result<std::uint64_t> checked_length(ReadableFile& file, const std::filesystem::path& path) {
  const Result<FileInfo> info = file.info();
  if (!info) return info.error();
  std::array<char, kMark.size()> mark{};
  Result<std::size_t> read = read_at(file, 0, std::as_writable_bytes(std::span(mark)));
  if (!read) return read.error();
  if (*read == 0) return corrupt(path, "the file is empty, not a checkpoint");
  if (mark != kMark) return corrupt(path, "this is not a checkpoint of Osler's");
  const Error cut{ErrorCode::truncated, "the checkpoint ends early; it was not written to its end", path.string()};
  if (info->size_bytes < kMark.size() + kTail) return cut;
  const std::uint64_t length = info->size_bytes - kMark.size() - kTail;
  std::array<char, kTail> tail{};
  read = read_at(file, kMark.size() + length, std::as_writable_bytes(std::span(tail)));
  if (!read) return read.error();
  std::uint64_t told_length = 0;
  std::uint32_t told_crc = 0;
  std::memcpy(&told_length, tail.data(), sizeof told_length);
  std::memcpy(&told_crc, tail.data() + sizeof told_length, sizeof told_crc);
  if (*read != kTail || !std::equal(kEnd.begin(), kEnd.end(), tail.end() - kEnd.size())) return cut;
  if (told_length != length) return corrupt(path, "the checkpoint is damaged: its length is wrong");

  std::vector<std::byte> piece(1 << 20);
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < length;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), length - at);
    read = read_at(file, kMark.size() + at, std::span(piece).first(wanted));
    if (!read) return read.error();
    if (*read != wanted) return cut;
    crc = crc32c(std::span(piece).first(wanted), crc);
    at += wanted;
  }
  if (crc != told_crc) return corrupt(path, "the checkpoint is damaged: its checksum is wrong");
  return length;
}

}  // namespace

Result<void> write_archive(FileSystem& files, const std::filesystem::path& path,
                           ::torch::serialize::OutputArchive& archive) {
  std::filesystem::path beside = path;
  beside += ".part";
  Result<void> written = write_whole(files, beside, archive);
  if (written) written = files.rename(beside, path);
  if (!written) static_cast<void>(files.remove(beside));  // the first failure is the one to tell
  return written;
}

Result<void> read_archive(FileSystem& files, const std::filesystem::path& path,
                          ::torch::serialize::InputArchive& archive) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_read(path);
  if (!file) return file.error();
  const Result<std::uint64_t> length = checked_length(**file, path);
  if (!length) return length.error();
  try {
    archive.load_from(
        [&](std::uint64_t position, void* buffer, std::size_t size) -> std::size_t {
          const std::size_t wanted = std::min<std::uint64_t>(size, *length - std::min(position, *length));
          const auto read =
              read_at(**file, kMark.size() + position, std::span(static_cast<std::byte*>(buffer), wanted));
          return read ? *read : 0;
        },
        [&]() -> std::size_t { return *length; });
  } catch (const std::exception& error) {
    return corrupt(path, std::string("LibTorch cannot read the checkpoint: ") + error.what());
  }
  return {};
}

}  // namespace osler::torch
