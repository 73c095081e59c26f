// LineSplitter: bytes that arrive in pieces become lines, whatever ends them and however they are encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "formats/decoder.h"
#include "osler/base/damage.h"

namespace osler {

/// One line without its end. The text lives until the next call.
struct Line {
  std::string_view text;
  std::uint64_t number = 0;  ///< 1-based
};

/// Cuts text in any usual encoding into lines at \n, \r, \r\n and \r\r\n, and leaves out empty lines.
class LineSplitter {
 public:
  /// Longer lines are no lines of a log; they are skipped and reported, so memory stays bounded.
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20;

  /// Calls `on_line(const Line&)` for each line that the bytes complete.
  template <typename OnLine>
  void feed(std::span<const std::byte> bytes, DamageReport& damage, OnLine&& on_line) {
    split(decoder_.decode(bytes), damage, on_line);
  }

  /// Calls `on_line` for what is left when no more will come.
  template <typename OnLine>
  void finish(DamageReport& damage, OnLine&& on_line) {
    split(decoder_.finish(), damage, on_line);
    end_line({}, damage, on_line);
  }

 private:
  void report_long_line(DamageReport& damage) const;

  template <typename OnLine>
  void split(std::string_view text, DamageReport& damage, OnLine&& on_line);
  template <typename OnLine>
  void end_line(std::string_view tail, DamageReport& damage, OnLine&& on_line);
  void keep(std::string_view tail);

  TextDecoder decoder_;
  std::string pending_;       // the line that is not complete yet
  std::uint64_t number_ = 1;  // of the line that is not complete yet
  std::uint64_t skipped_ = 0;
  bool after_return_ = false;  // the newest byte was \r
};

template <typename OnLine>
void LineSplitter::split(std::string_view text, DamageReport& damage, OnLine&& on_line) {
  const char* position = text.data();
  const char* const end = position + text.size();
  const char* newline = position;  // the next \n at or after `position`, or `end`; found once, not once per \r
  bool newline_known = false;
  while (position != end) {
    if (!newline_known || newline < position) {
      const void* found = std::memchr(position, '\n', static_cast<std::size_t>(end - position));
      newline = found != nullptr ? static_cast<const char*>(found) : end;
      newline_known = true;
    }
    const void* found = std::memchr(position, '\r', static_cast<std::size_t>(newline - position));
    const char* stop = found != nullptr ? static_cast<const char*>(found) : newline;
    const std::string_view tail(position, static_cast<std::size_t>(stop - position));
    if (stop == end) {
      keep(tail);
      if (!tail.empty()) after_return_ = false;
      return;
    }
    const bool continues_return = after_return_ && tail.empty();
    end_line(tail, damage, on_line);
    if (!continues_return) ++number_;  // \r\n and \r\r\n end one line
    after_return_ = *stop == '\r';
    position = stop + 1;
  }
}

template <typename OnLine>
void LineSplitter::end_line(std::string_view tail, DamageReport& damage, OnLine&& on_line) {
  if (skipped_ != 0 || pending_.size() + tail.size() > kLongestLine) {
    skipped_ += pending_.size() + tail.size();
    report_long_line(damage);
    skipped_ = 0;
    pending_.clear();
    return;
  }
  if (pending_.empty()) {
    if (!tail.empty()) on_line(Line{tail, number_});
    return;
  }
  pending_ += tail;
  on_line(Line{pending_, number_});
  pending_.clear();
}

}  // namespace osler
