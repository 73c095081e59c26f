// What a file is that is no log: told by its first bytes, for messages that help.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace osler {

/// A kind of file that is not read, and what to do about it.
struct FileKindName {
  std::string_view name;  ///< "a Parquet file"
  std::string_view hint;  ///< how its numbers can be read all the same
};

/// The kind of a binary file, known by its first bytes; nothing when they are those of no kind that is known.
[[nodiscard]] std::optional<FileKindName> known_binary(std::string_view head);

}  // namespace osler
