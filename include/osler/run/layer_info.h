// LayerInfo: one layer of the network that is trained, as far as its structure is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace osler {

/// One layer, or one parameter of it. A network's structure is the list of them from input to output.
struct LayerInfo {
  std::string name;                 ///< as in the names of its series: "encoder.0.weight"
  std::string type;                 ///< "Linear", "BatchNorm2d", "weight"; may be empty
  std::vector<std::int64_t> shape;  ///< of its parameter, or of its output; may be empty
  std::uint64_t parameters = 0;     ///< trainable numbers in it

  friend bool operator==(const LayerInfo&, const LayerInfo&) = default;
};

}  // namespace osler
