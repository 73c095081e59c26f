// How the API writes JSON: any bytes become valid UTF-8, and numbers that JSON lacks become strings or null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace osler::dashboard {

using Json = nlohmann::ordered_json;

/// The text of `json`. Names come from logs and may hold bytes that are not UTF-8; those are replaced.
[[nodiscard]] std::string written(const Json& json);

/// A number; "nan", "inf" or "-inf" as in the report contract.
[[nodiscard]] Json any_number(double value);
/// A finite number with as many digits as a drawing needs, null for any other.
[[nodiscard]] Json short_number(double value, int digits = 5);

}  // namespace osler::dashboard
