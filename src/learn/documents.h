// The files of the course as they lie in docs/learn, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace osler::learn {

/// One file of docs/learn.
struct Document {
  std::string_view path;  ///< below docs/learn: "03-gradient-statistics.md"
  std::string_view text;
};

/// All of them, sorted by path.
[[nodiscard]] std::span<const Document> documents();

/// The file at `path`, or nullptr.
[[nodiscard]] const Document* find_document(std::string_view path);

}  // namespace osler::learn
