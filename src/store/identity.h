// Names as numbers: runs, series and streams are known by a number that anyone can work out from their names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace osler::store {

/// 64 bits of the parts (FNV-1a with a last mixing); never 0, which stands for none.
[[nodiscard]] std::uint64_t identity(std::initializer_list<std::string_view> parts);

}  // namespace osler::store
