// gzip at the speed of the wire, for what is sent to the store.
#pragma once

#include <string>
#include <string_view>

#include "osler/base/result.h"

namespace osler::store {

/// `bytes` as one gzip member.
[[nodiscard]] Result<std::string> gzip(std::string_view bytes);

}  // namespace osler::store
