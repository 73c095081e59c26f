// Session: the Model Context Protocol, from one message to its answer (JSON-RPC 2.0).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/mcp/tools.h"

namespace osler::cli::mcp {

/// The longest message that is read; tool calls take a few hundred bytes.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 20U;

/// One client's conversation. What a client writes, however wrong, gives an answer or nothing, never an exception.
class Session {
 public:
  explicit Session(Tools tools) : tools_(std::move(tools)) {}

  /// The answer to one line, in one line; nothing for notifications and answers of the client's.
  [[nodiscard]] std::optional<std::string> answer(std::string_view line);
  /// The answer to a line that was too long to be kept.
  [[nodiscard]] static std::string refuse_length();

 private:
  class Exchange;

  Tools tools_;
  std::string version_;  // empty before `initialize`
};

}  // namespace osler::cli::mcp
