// gan: how to read networks that play against each other.
#include "osler/diagnosis/guide.h"

namespace osler::guide {
namespace {

constexpr std::string_view kDoc = R"(
## Two losses, one game
Each network's loss is measured against the other one, so neither should fall for ever. A generator's loss that climbs is
no divergence, and a flat pair of curves may be good work or none at all. Osler does not judge such losses by their trend;
look at samples and at a score such as FID.

## Numbers worth knowing
With the usual loss a discriminator that can only guess has 0.693 (ln 2) for real and generated samples each, 1.386 where
the two are added. Wasserstein critics have no such level, no floor, and may be negative.

## In which order to look
1. Who leads? A discriminator's loss near zero beside a generator's that climbs and stays up:
   [discriminator-overpowers-generator](discriminator-overpowers-generator.md). No gradient is left to learn from.
2. Do both stand at their balance from the first steps on, to the last digit? Then nothing is learned: look at the
   optimizers and at what is detached.
3. Do samples look alike? A generator that found one good answer keeps its loss low; only samples, or a score of variety,
   show it.
4. Is the score still falling? Keep the checkpoint with the best FID; late training often loses it again.

## What looks ill and is not
- Swings of both losses: the game is one of pursuit.
- A generator's loss that creeps up while samples get better.
- A discriminator that leads for a while early on.

## What helps
A quarter of the generator's rate for the discriminator or the other way round, spectral normalisation, a gradient
penalty on real samples, an average of the generator's weights for sampling.

## References
- Goodfellow et al. 2014, Generative Adversarial Nets.
- Miyato et al. 2018, Spectral Normalization for Generative Adversarial Networks.
- Mescheder et al. 2018, Which Training Methods for GANs do actually Converge?
)";

}  // namespace

Guide gan() {
  return {"gan", "Reading generative adversarial networks", kDoc};
}

}  // namespace osler::guide
