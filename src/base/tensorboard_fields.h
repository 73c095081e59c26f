// What Osler adds to TensorBoard event files, for its sink and its reader.
#pragma once

#include <cstdint>

namespace osler {

/// The field of a summary value that holds a scalar in 64 bits where 32 are not enough. TensorBoard's own schema does
/// not have it, and its readers pass over fields they do not know.
inline constexpr std::uint32_t kExactScalarField = 4201;

/// The field of a summary value with a histogram that says: what the histogram tells of its tensor stands beside it as
/// scalars, so a reader need not work it out again.
inline constexpr std::uint32_t kFiguresBesideField = 4202;

}  // namespace osler
