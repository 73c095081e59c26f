// The time a line was written, from the date that loggers put in front of it.
#pragma once

#include <string_view>

namespace osler::text {

/// Seconds since the Unix epoch of the date and time near the start of `line`, or kNoTime. A time without zone is taken
/// for UTC; one without year tells nothing.
[[nodiscard]] double wall_time_of(std::string_view line);

}  // namespace osler::text
