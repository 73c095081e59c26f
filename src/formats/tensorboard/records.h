// RecordSplitter: cuts a TFRecord file into its records and checks their CRCs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "osler/base/damage.h"
#include "osler/base/result.h"

namespace osler {

/// A record is: length (8 bytes, little endian), masked CRC-32C of those 8 bytes (4), data, masked CRC-32C of the data
/// (4). A record with a bad data CRC is skipped; after a bad length CRC the next good one is searched for; both are
/// reported. Records too large to be numbers are passed over without being kept.
class RecordSplitter {
 public:
  static constexpr std::size_t kHeaderBytes = 12;
  static constexpr std::size_t kFooterBytes = 4;
  /// Larger records hold graphs, images or damage, never scalars.
  static constexpr std::uint64_t kLargestKept = std::uint64_t{64} << 20;
  /// A length beyond this is damage even if its CRC happens to match.
  static constexpr std::uint64_t kLargestRecord = std::uint64_t{1} << 40;

  /// Calls `on_record(std::span<const std::byte> data, std::uint64_t offset)` for each record that the bytes complete.
  template <typename OnRecord>
  void feed(std::span<const std::byte> bytes, DamageReport& damage, OnRecord&& on_record) {
    while (!bytes.empty()) {
      if (skip_ > 0) {
        const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
        skip_ -= passed;
        offset_ += passed;
        bytes = bytes.subspan(passed);
        continue;
      }
      if (pending_.empty()) {
        const std::size_t used = split(bytes, damage, on_record);
        pending_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
        return;
      }
      // Complete the record that was cut off, and not more, so that the rest need not be copied.
      const std::size_t taken = std::min(wanted(), bytes.size());
      pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
      bytes = bytes.subspan(taken);
      const std::size_t used = split(pending_, damage, on_record);
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(used));
    }
  }

  /// Reports what is left over when no more will come.
  [[nodiscard]] Result<void> finish(DamageReport& damage);

  /// Whether `header` (at least kHeaderBytes) starts a record.
  [[nodiscard]] static bool is_header(const std::byte* header);

 private:
  /// How many bytes are needed to go on with `pending_`.
  [[nodiscard]] std::size_t wanted() const;
  /// Looks for the next header in `bytes`; returns how many bytes were passed over.
  std::size_t search(std::span<const std::byte> bytes, DamageReport& damage);
  void report_bad_data(std::uint64_t length, DamageReport& damage);
  void report_lost(DamageReport& damage);
  [[nodiscard]] bool header_is_good(const std::byte* header, std::uint64_t length);

  static std::uint64_t load64(const std::byte* bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  static std::uint32_t load32(const std::byte* bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  template <typename OnRecord>
  std::size_t split(std::span<const std::byte> bytes, DamageReport& damage, OnRecord&& on_record);

  std::vector<std::byte> pending_;
  std::uint64_t offset_ = 0;        // of the first byte that is not used yet
  std::uint64_t skip_ = 0;          // bytes of a large record still to be passed over
  std::uint64_t lost_ = 0;          // bytes passed over since the last good header
  std::uint64_t known_length_ = 0;  // the newest good length and its CRC: records of equal length follow each other
  std::uint32_t known_crc_ = 0;
  bool searching_ = false;
};

template <typename OnRecord>
std::size_t RecordSplitter::split(std::span<const std::byte> bytes, DamageReport& damage, OnRecord&& on_record) {
  std::size_t used = 0;
  while (bytes.size() - used >= kHeaderBytes) {
    const std::span<const std::byte> rest = bytes.subspan(used);
    const std::uint64_t length = load64(rest.data());
    if (searching_ || !header_is_good(rest.data(), length)) {
      const std::size_t passed = search(rest, damage);
      used += passed;
      if (searching_) break;
      continue;
    }
    if (length > kLargestKept) {
      const std::uint64_t whole = kHeaderBytes + length + kFooterBytes;
      const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(whole, rest.size()));
      used += here;
      offset_ += here;
      skip_ = whole - here;
      continue;
    }
    const std::size_t whole = kHeaderBytes + static_cast<std::size_t>(length) + kFooterBytes;
    if (rest.size() < whole) break;
    const std::span<const std::byte> data = rest.subspan(kHeaderBytes, static_cast<std::size_t>(length));
    if (masked_crc32c(crc32c(data)) == load32(data.data() + data.size())) {
      on_record(data, offset_);
    } else {
      report_bad_data(length, damage);
    }
    used += whole;
    offset_ += whole;
  }
  return used;
}

}  // namespace osler
