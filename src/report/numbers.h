// Numbers as a person reads them.
#pragma once

#include <cstdint>
#include <string>

namespace osler::layout {

/// Three to four significant digits: "0.0412", "3.2e-05", "12,345", "NaN", "-Inf".
[[nodiscard]] std::string short_number(double value);
/// A count or a step with its thousands apart: "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t value);
[[nodiscard]] std::string grouped(std::uint64_t value);
/// "812 B", "1.4 MB".
[[nodiscard]] std::string byte_count(std::uint64_t bytes);
/// "82 %"; never 0 % or 100 % for something that is only nearly so.
[[nodiscard]] std::string percent(double share);
/// "1 run", "3 runs".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace osler::layout
