// Blocks, fragments and records of a .wandb file.
#include "formats/wandb/log.h"

#include <algorithm>
#include <cstring>

namespace osler {
namespace {

constexpr std::string_view kIdent = ":W&B";
constexpr unsigned kMagic = 0xBEE1;

/// CRC-32 as zlib computes it, eight bytes at a time (slicing by eight).
constexpr auto kCrcTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
    tables[0][i] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[slice - 1][i];
      tables[slice][i] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

std::uint32_t load32(const char* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint32_t crc32(std::string_view data) {
  std::uint32_t crc = 0xFFFFFFFFU;
  while (data.size() >= 8) {
    const std::uint32_t low = crc ^ load32(data.data());
    const std::uint32_t high = load32(data.data() + 4);
    crc = kCrcTables[7][low & 0xFF] ^ kCrcTables[6][(low >> 8) & 0xFF] ^ kCrcTables[5][(low >> 16) & 0xFF] ^
          kCrcTables[4][low >> 24] ^ kCrcTables[3][high & 0xFF] ^ kCrcTables[2][(high >> 8) & 0xFF] ^
          kCrcTables[1][(high >> 16) & 0xFF] ^ kCrcTables[0][high >> 24];
    data.remove_prefix(8);
  }
  for (const char byte : data) crc = (crc >> 8) ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

bool WandbLog::opens(std::string_view head) {
  return head.size() >= kHeaderBytes && head.starts_with(kIdent) &&
         (byte_at(head, 4) | byte_at(head, 5) << 8) == kMagic;
}

Result<void> WandbLog::feed(std::span<const std::byte> bytes, DamageReport& damage, const OnRecord& on_record) {
  pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (offset_ == 0) {
    if (pending_.size() < kHeaderBytes) return {};
    if (!opens(pending_)) return Error{ErrorCode::corrupt, "the file does not begin like a .wandb file", {}};
    pending_.erase(0, kHeaderBytes);
    offset_ = kHeaderBytes;
  }
  const std::size_t used = split(pending_, damage, on_record);
  pending_.erase(0, used);
  return {};
}

Result<void> WandbLog::finish() const {
  if (pending_.empty() && !in_record_) return {};
  return Error{ErrorCode::truncated, "the file ends within a record", "byte " + std::to_string(offset_)};
}

std::size_t WandbLog::split(std::string_view bytes, DamageReport& damage, const OnRecord& on_record) {
  std::size_t used = 0;
  const auto consume = [&](std::size_t count) {
    used += count;
    offset_ += count;
    bytes.remove_prefix(count);
  };
  while (!bytes.empty()) {
    if (skip_ > 0) {
      const std::size_t passed = std::min(skip_, bytes.size());
      skip_ -= passed;
      consume(passed);
      continue;
    }
    const std::size_t room = kBlockBytes - static_cast<std::size_t>(offset_ % kBlockBytes);
    if (room < kHeaderBytes) {
      skip_ = room;
      continue;
    }
    if (bytes.size() < kHeaderBytes) break;
    const std::size_t length = byte_at(bytes, 4) | byte_at(bytes, 5) << 8;
    const unsigned type = byte_at(bytes, 6);
    const bool padding = type == 0 && length == 0 && load32(bytes.data()) == 0;
    if (type < 1 || type > 4 || kHeaderBytes + length > room) {
      if (!padding) drop_record(damage, "a fragment's header is damaged; the rest of its block was left out");
      skip_ = room;
      distrusted_ = false;
      continue;
    }
    if (bytes.size() < kHeaderBytes + length) break;
    const std::string_view data = bytes.substr(kHeaderBytes, length);
    if (crc32(bytes.substr(6, 1 + length)) == load32(bytes.data())) {
      fragment(static_cast<Fragment>(type), data, damage, on_record);
      distrusted_ = false;
      consume(kHeaderBytes + length);
    } else {
      // If the length was damaged too, the next fragment will not be good either.
      drop_record(damage, distrusted_ ? "two damaged fragments in a row; the rest of the block was left out"
                                      : "a fragment's checksum is wrong; its record was left out");
      if (distrusted_) {
        skip_ = room;
      } else {
        consume(kHeaderBytes + length);
      }
      distrusted_ = !distrusted_;
    }
  }
  return used;
}

void WandbLog::drop_record(DamageReport& damage, const char* why) {
  damage.add({{}, offset_, 0, why, record_.size()});
  record_.clear();
  in_record_ = false;
}

void WandbLog::fragment(Fragment type, std::string_view data, DamageReport& damage, const OnRecord& on_record) {
  const bool starts = type == Fragment::full || type == Fragment::first;
  if (starts) {
    if (in_record_) drop_record(damage, "a record ends early; it was left out");
    record_.clear();
    record_offset_ = offset_;
    oversized_ = false;
  } else if (!in_record_) {
    return;  // the rest of a record whose damage was told
  }
  if (type == Fragment::full) {
    on_record(data, offset_);
    return;
  }
  in_record_ = true;
  oversized_ |= record_.size() + data.size() > kLargestRecord;
  if (!oversized_) record_.append(data);
  if (type != Fragment::last) return;
  in_record_ = false;
  if (!oversized_) on_record(record_, record_offset_);
  record_.clear();
}

}  // namespace osler
