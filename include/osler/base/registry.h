// One row of a registry that CMake generates from the files of a folder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace osler {

/// A descriptor together with the stem of the file that defines it.
template <typename Descriptor>
struct Registered {
  std::string_view file_stem;
  Descriptor descriptor;
};

}  // namespace osler
