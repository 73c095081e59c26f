// Lone series: what to make of the one series of a log in which no name is known.
#pragma once

#include <map>
#include <vector>

#include "osler/run/role.h"

namespace osler {

/// Where no series has a known role, and one alone of them neither counts nor stands still, it is taken for the
/// training loss if it is positive and has come down. Shares that rise beside it may be accuracies and do not count.
/// Of several such series nobody knows which is it: they stay as they are.
void cast_lone_series(std::map<Role, std::vector<Cast>>& casts);

}  // namespace osler
