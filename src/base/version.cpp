// The version of the library, as it was when the library was compiled.
#include "osler/base/version.h"

namespace osler {

std::string_view version() {
  return kVersion;
}

}  // namespace osler
