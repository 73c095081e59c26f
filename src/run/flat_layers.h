// Flat layers: gradient norms of layers whose names have no folder, "grad_norm_fc1" or "fc1.weight.grad_norm".
#pragma once

#include <map>
#include <vector>

#include "osler/run/role.h"

namespace osler {

/// Gradient norms that differ in the name of a part are those of layers, when there are three or more of them: only
/// their company tells that they are not norms of the whole.
void cast_flat_layers(std::map<Role, std::vector<Cast>>& casts);

}  // namespace osler
