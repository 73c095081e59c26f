// The trade of a VAE between its latent and its reconstruction.
#include "diagnosis/evidence/latent.h"

#include "diagnosis/evidence/agent.h"

namespace osler {

bool latent_gives_way(const Patient& patient) {
  constexpr std::size_t kFewest = 5;
  constexpr double kGoodPart = 0.2;
  const auto divergence = figure(patient, Role::latent_kl, kFewest);
  return divergence && divergence->start > 0 && divergence->end < (1 - kGoodPart) * divergence->start;
}

}  // namespace osler
