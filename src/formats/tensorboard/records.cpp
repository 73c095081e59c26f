// What happens to records that are damaged or cut off.
#include "formats/tensorboard/records.h"

#include <algorithm>
#include <bit>

namespace osler {

static_assert(std::endian::native == std::endian::little, "record fields are loaded as they lie in the file");

bool RecordSplitter::is_header(const std::byte* header) {
  const std::uint64_t length = load64(header);
  // Zero is what an empty stretch of a file reads as; no record is empty.
  if (length == 0 || length > kLargestRecord) return false;
  return masked_crc32c(crc32c({header, 8})) == load32(header + 8);
}

bool RecordSplitter::header_is_good(const std::byte* header, std::uint64_t length) {
  const std::uint32_t crc = load32(header + 8);
  if (length == known_length_ && crc == known_crc_ && length != 0) return true;
  if (!is_header(header)) return false;
  known_length_ = length;
  known_crc_ = crc;
  return true;
}

std::size_t RecordSplitter::search(std::span<const std::byte> bytes, DamageReport& damage) {
  std::size_t passed = 0;
  if (!searching_) {
    searching_ = true;
    lost_ = 0;
    passed = 1;
  }
  while (passed + kHeaderBytes <= bytes.size() && !is_header(bytes.data() + passed)) ++passed;
  lost_ += passed;
  offset_ += passed;
  if (passed + kHeaderBytes <= bytes.size()) report_lost(damage);
  return passed;
}

std::size_t RecordSplitter::wanted() const {
  // While searching, a piece of any size will do; a page keeps the copying small.
  if (searching_) return 4096;
  if (pending_.size() < kHeaderBytes) return kHeaderBytes - pending_.size();
  const std::uint64_t whole = kHeaderBytes + load64(pending_.data()) + kFooterBytes;
  return static_cast<std::size_t>(whole - pending_.size());
}

void RecordSplitter::report_bad_data(std::uint64_t length, DamageReport& damage) {
  damage.add({{}, offset_, 0, "a record's checksum does not match its data", length + kHeaderBytes + kFooterBytes});
}

void RecordSplitter::report_lost(DamageReport& damage) {
  searching_ = false;
  damage.add({{}, offset_ - lost_, 0, "a record's length is damaged; reading went on at the next good record", lost_});
}

Result<void> RecordSplitter::finish(DamageReport& damage) {
  if (searching_) {
    lost_ += pending_.size();
    offset_ += pending_.size();
    searching_ = false;
    damage.add({{}, offset_ - lost_, 0, "a record's length is damaged, and no good record follows", lost_});
    return {};
  }
  if (pending_.empty() && skip_ == 0) return {};
  return Error{ErrorCode::truncated,
               "the last record, at byte " + std::to_string(offset_) +
                   ", is not complete: the file was cut off or is "
                   "still being written",
               {}};
}

}  // namespace osler
