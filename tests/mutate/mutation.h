// Damage done to logs on purpose: what editors, disks, crashes and other programs do to them, and worse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/random.h"

namespace osler::mutate {

/// A log of the tree.
struct Original {
  std::string name;  ///< the name of its file: endings matter to readers
  std::string bytes;
};

/// Every sample and example of the tree below `source`, sorted by path; what is too long to be mutated often is cut.
[[nodiscard]] std::vector<Original> originals(const std::string& source);

/// A copy of `bytes` with one to four kinds of damage; `other` lends its bytes to some of them. Never longer than
/// kLongestMutant.
[[nodiscard]] std::string mutated(const std::string& bytes, const std::string& other, simulate::Random& random);

inline constexpr std::size_t kLongestMutant = 512 * 1024;

}  // namespace osler::mutate
