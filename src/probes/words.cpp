// Naming a few of many.
#include "probes/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace osler::probes {

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 4;
  if (names.size() <= kNamed) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + kNamed);
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - kNamed);
}

}  // namespace osler::probes
