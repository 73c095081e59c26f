// Names and one-line descriptions of errors.
#include "osler/base/error.h"

namespace osler {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::io:
      return "io";
    case ErrorCode::not_found:
      return "not-found";
    case ErrorCode::truncated:
      return "truncated";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::invalid_argument:
      return "invalid-argument";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

std::string describe(const Error& error) {
  return error.context.empty() ? error.message : error.context + ": " + error.message;
}

}  // namespace osler
