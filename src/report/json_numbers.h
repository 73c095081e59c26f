// Numbers in JSON, which has no NaN and no infinity: they are written as strings.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace osler {

inline nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace osler
