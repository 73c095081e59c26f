// Lists of names in a sentence.
#pragma once

#include <string>
#include <vector>

namespace osler::probes {

/// "a, b, c and 5 more".
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);

}  // namespace osler::probes
