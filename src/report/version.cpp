// The version of Osler; CMake passes it in, so that the project's number stands in one place.
#include "osler/report/render.h"

namespace osler {

std::string_view version() {
  return OSLER_VERSION;
}

}  // namespace osler
