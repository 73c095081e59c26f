// TextDecoder: the bytes of a text in any usual encoding, as UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace osler {

/// UTF-8 with or without a byte order mark passes as it is, as does any other encoding that extends ASCII; UTF-16 is
/// recognised, with or without a mark, and turned into UTF-8.
class TextDecoder {
 public:
  /// The text that the bytes complete; it lives until the next call.
  std::string_view decode(std::span<const std::byte> bytes);
  /// The text that is left when no more will come.
  std::string_view finish();

 private:
  enum class Encoding { unknown, ascii_based, utf16_little, utf16_big };

  std::string_view settle_encoding();
  std::string_view from_utf16(std::string_view bytes);

  Encoding encoding_ = Encoding::unknown;
  bool ending_ = false;     // no more will come
  bool hole_ = false;       // the text begins with NUL bytes
  std::string head_;        // the first bytes, until the encoding is known
  std::string scratch_;     // text decoded from UTF-16
  std::string utf16_rest_;  // an unfinished code unit or surrogate pair
};

}  // namespace osler
