// Opens libraries with the system's loader.
#include "stats/gpu/shared_library.h"

#include <dlfcn.h>

namespace osler::stats::gpu {

Result<SharedLibrary> SharedLibrary::open(std::span<const std::string> names, const std::string& what) {
  std::string tried;
  for (const std::string& name : names) {
    if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      SharedLibrary library;
      library.handle_ = std::shared_ptr<void>(handle, [](void* open) { ::dlclose(open); });
      library.name_ = name;
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + name;
  }
  return Error{ErrorCode::not_found, what + " was not found (tried " + tried + ")", "GPU statistics"};
}

void* SharedLibrary::address_of(const char* symbol) const {
  return ::dlsym(handle_.get(), symbol);
}

}  // namespace osler::stats::gpu
