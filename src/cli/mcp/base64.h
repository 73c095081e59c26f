// Base64, as pictures travel in JSON (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace osler::cli::mcp {

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace osler::cli::mcp
