// The patients of gallery/, found by name.
#include <algorithm>

#include "osler/gallery/patient.h"

namespace osler {

std::span<const Registered<gallery::Patient>> gallery_patients();

namespace gallery {

std::span<const Registered<Patient>> patients() {
  return gallery_patients();
}

const Patient* find_patient(std::string_view id) {
  const auto all = patients();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.descriptor.id == id; });
  return found != all.end() ? &found->descriptor : nullptr;
}

}  // namespace gallery
}  // namespace osler
