// What a latent space tells of the loss beside it.
#pragma once

#include "diagnosis/patient.h"

namespace osler {

/// The divergence of the latent has come down by a good part. Where its weight grows during training, the
/// reconstruction pays for it, and only the two together tell how training goes.
[[nodiscard]] bool latent_gives_way(const Patient& patient);

}  // namespace osler
