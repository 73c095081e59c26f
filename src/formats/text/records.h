// Records: lines that hold several of them, one after the other.
#pragma once

#include <string_view>

namespace osler::text {

/// Takes the first record off a line such as "Round 0, acc=0.1, Round 1, acc=0.2, Round 2, acc=0.3": the word it begins
/// with counts on at least twice more. A line with one record is taken whole.
std::string_view take_record(std::string_view& line, bool& several);

}  // namespace osler::text
