// Recognising what kind of training a run is.
#pragma once

#include "osler/diagnosis/domain.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

/// The domain that the series, their roles and the configuration speak for most clearly.
[[nodiscard]] RecognisedDomain recognise_domain(const Run& run, const RoleMap& roles);
/// Whether the monitor saw several losses take turns, as those of several tasks do: neighbouring values of the training
/// loss are not of one kind.
[[nodiscard]] bool losses_take_turns(const Run& run);
/// Whether the monitor saw its network trained in turns with another one, as in a GAN.
[[nodiscard]] bool trained_in_turns(const Run& run);

}  // namespace osler
