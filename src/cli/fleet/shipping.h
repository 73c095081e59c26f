// Shipping: what lies at some paths, and what will come to lie there, on its way into a store.
#pragma once

#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/store/ship.h"

namespace osler::cli {

/// What to ship, and for how long.
struct ShippingWishes {
  std::vector<std::string> paths;  ///< files, folders, or one pipe
  std::string name;                ///< of the one run there is; empty: its path
  std::string format;              ///< the id of a format; empty: look
  bool once = false;               ///< what is there now, without waiting for more
  double idle_seconds = 0;         ///< end when nothing came for so long; 0: never
};

/// Ships until there is no more, or until `interrupt` is readable. `interrupt` may also be -1. False when something was
/// left that the store does not have.
[[nodiscard]] Result<bool> ship_files(Shipper& shipper, const ShippingWishes& wishes, int interrupt);
[[nodiscard]] Result<bool> ship_pipe(Shipper& shipper, const ShippingWishes& wishes, int interrupt);

}  // namespace osler::cli
