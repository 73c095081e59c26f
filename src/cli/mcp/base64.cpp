// Base64: three bytes become four letters.
#include "cli/mcp/base64.h"

#include <algorithm>
#include <cstdint>

namespace osler::cli::mcp {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= count ? kLetters[three >> (18U - 6U * static_cast<unsigned>(i)) & 63U] : '=');
    }
  }
  return text;
}

}  // namespace osler::cli::mcp
