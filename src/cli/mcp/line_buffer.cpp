// LineBuffer: what is too long is dropped as soon as that is known.
#include "cli/mcp/line_buffer.h"

namespace osler::cli::mcp {

void LineBuffer::add(std::string_view bytes) {
  bytes_ += bytes;
}

LineBuffer::Line LineBuffer::taken(std::size_t length) {
  Line line{bytes_.substr(0, length), skipping_ || length > longest_};
  if (line.too_long) line.text.clear();
  if (line.text.ends_with('\r')) line.text.pop_back();
  skipping_ = false;
  return line;
}

std::optional<LineBuffer::Line> LineBuffer::next() {
  const std::size_t end = bytes_.find('\n');
  if (end == std::string::npos) {
    if (bytes_.size() > longest_) {
      bytes_.clear();
      skipping_ = true;
    }
    return std::nullopt;
  }
  Line line = taken(end);
  bytes_.erase(0, end + 1);
  return line;
}

std::optional<LineBuffer::Line> LineBuffer::rest() {
  if (bytes_.empty() && !skipping_) return std::nullopt;
  Line line = taken(bytes_.size());
  bytes_.clear();
  return line;
}

}  // namespace osler::cli::mcp
