// What can go wrong, as a value.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// The kinds of failure a caller may want to tell apart.
enum class ErrorCode {
  io,                ///< the operating system refused
  not_found,         ///< nothing is there
  truncated,         ///< the data ends early; more may come
  corrupt,           ///< the data is damaged; more will not help
  unsupported,       ///< understood, but not something Osler does
  invalid_argument,  ///< the caller asked for something that cannot be
  internal,          ///< a bug of ours, or of a library we use
};

/// The kebab-case name of a code, for messages and JSON.
[[nodiscard]] std::string_view to_string(ErrorCode code);

/// One failure: what kind, what happened, and where (a path, a line, a value).
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string context;

  friend bool operator==(const Error&, const Error&) = default;
};

/// One line for a person: "context: message".
[[nodiscard]] std::string describe(const Error& error);

}  // namespace osler
