// Recognising encodings, and turning UTF-16 into UTF-8.
#include "formats/decoder.h"

#include <cstdint>

namespace osler {
namespace {

constexpr std::size_t kHeadBytes = 4;

void append_utf8(std::uint32_t point, std::string& text) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | (point >> 6));
    text += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | (point >> 12));
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (point >> 18));
    text += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (point & 0x3F));
  }
}

}  // namespace

std::string_view TextDecoder::decode(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (encoding_ == Encoding::ascii_based) return text;
  if (encoding_ != Encoding::unknown) return from_utf16(text);
  head_ += text;
  return head_.size() < kHeadBytes ? std::string_view() : settle_encoding();
}

std::string_view TextDecoder::finish() {
  ending_ = true;
  // An unfinished UTF-16 unit at the very end has no meaning and is dropped.
  return encoding_ == Encoding::unknown ? settle_encoding() : std::string_view();
}

std::string_view TextDecoder::settle_encoding() {
  // A log that was truncated while it was written to begins with a hole.
  const std::size_t first = head_.find_first_not_of('\0');
  hole_ |= first >= kHeadBytes;  // npos is
  if (hole_) {
    head_.erase(0, first == std::string::npos ? head_.size() : first);
    if (head_.size() < kHeadBytes && !ending_) return {};
  }
  const std::string_view head = head_;
  if (head.starts_with("\xEF\xBB\xBF")) {
    encoding_ = Encoding::ascii_based;
    return head.substr(3);
  }
  const bool whole_head = head.size() >= kHeadBytes;
  const bool marked_little = head.starts_with("\xFF\xFE");
  const bool marked_big = head.starts_with("\xFE\xFF");
  const bool bare_little = whole_head && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0;
  const bool bare_big = whole_head && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0;
  if (marked_little || bare_little) encoding_ = Encoding::utf16_little;
  if (marked_big || bare_big) encoding_ = Encoding::utf16_big;
  if (encoding_ != Encoding::unknown) return from_utf16(head.substr(marked_little || marked_big ? 2 : 0));
  encoding_ = Encoding::ascii_based;
  return head;
}

std::string_view TextDecoder::from_utf16(std::string_view bytes) {
  scratch_.clear();
  std::string joined;
  if (!utf16_rest_.empty()) {
    joined = utf16_rest_;
    joined += bytes;
    bytes = joined;
  }
  const auto unit_at = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(encoding_ == Encoding::utf16_little ? first | second << 8 : first << 8 | second);
  };
  constexpr std::uint32_t kReplacement = 0xFFFD;
  std::size_t i = 0;
  while (i + 1 < bytes.size()) {
    std::uint32_t point = unit_at(i);
    if (point >= 0xD800 && point < 0xDC00) {
      if (i + 3 >= bytes.size()) break;
      const std::uint32_t low = unit_at(i + 2);
      const bool pair = low >= 0xDC00 && low < 0xE000;
      point = pair ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
      i += pair ? 2 : 0;
    } else if (point >= 0xDC00 && point < 0xE000) {
      point = kReplacement;
    }
    append_utf8(point, scratch_);
    i += 2;
  }
  utf16_rest_ = std::string(bytes.substr(i));
  return scratch_;
}

}  // namespace osler
