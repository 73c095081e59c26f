// Points in time as logs write them.
#pragma once

#include <string_view>

namespace osler {

/// Seconds since 1970 of "2024-05-01 12:30:45", "2024-05-01T12:30:45.250Z" and the like, taken as UTC when no offset is
/// given; NaN for anything else.
[[nodiscard]] double read_date_time(std::string_view text);

}  // namespace osler
