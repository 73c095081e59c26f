// Looking formats up by their id.
#include "osler/formats/format.h"

#include <algorithm>

namespace osler {

const Format* find_format(std::string_view id) {
  const auto all = formats();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Registered<Format>& entry) { return entry.descriptor.id == id; });
  return found == all.end() ? nullptr : &found->descriptor;
}

}  // namespace osler
