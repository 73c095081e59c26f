// SharedLibrary: a library of the system that is loaded when it is first needed.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "osler/base/result.h"

namespace osler::stats::gpu {

/// An open library; closed with the last copy.
class SharedLibrary {
 public:
  /// The first of these names or paths that can be opened. `what` is for the error: "the CUDA driver".
  static Result<SharedLibrary> open(std::span<const std::string> names, const std::string& what);

  /// Sets `function` to the library's symbol; fails when there is none.
  template <typename Function>
  Result<void> find(const char* symbol, Function*& function) const {
    void* const address = address_of(symbol);
    if (address == nullptr) {
      return Error{ErrorCode::unsupported, "it has no " + std::string(symbol) + "; it is too old", name_};
    }
    function = reinterpret_cast<Function*>(address);
    return {};
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;

  std::shared_ptr<void> handle_;
  std::string name_;
};

}  // namespace osler::stats::gpu
