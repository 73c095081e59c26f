// LineBuffer: messages out of a stream of bytes, one a line, none longer than a limit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace osler::cli::mcp {

/// Takes bytes as they come and gives lines. A line beyond the limit is thrown away while it comes in, so that memory
/// stays bounded whatever a client sends.
class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  /// A line without its end; `too_long` when it was, and then it is empty.
  struct Line {
    std::string text;
    bool too_long = false;
  };

  void add(std::string_view bytes);
  /// The next whole line, if there is one.
  [[nodiscard]] std::optional<Line> next();
  /// What came after the last line end: a client that ends without one has still said it.
  [[nodiscard]] std::optional<Line> rest();

 private:
  [[nodiscard]] Line taken(std::size_t length);

  std::size_t longest_;
  std::string bytes_;
  bool skipping_ = false;  // inside a line that is too long
};

}  // namespace osler::cli::mcp
