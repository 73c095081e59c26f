// discriminator-too-strong: the judge learns faster than the forger.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Real and generated samples lie on thin sets that hardly meet, so a discriminator with enough capacity and steps can part
them perfectly. Then its output is flat where the generator stands, and no gradient says which way is better.

## How it shows
The discriminator's loss goes to zero and its accuracy to one, the generator's loss climbs and stays up.

## What else looks like it
A generator that is broken or has collapsed to a few samples (those look bad and alike), real samples that differ in range
from generated ones (then any discriminator wins at once).

## References
- Arjovsky and Bottou 2017, Towards Principled Methods for Training Generative Adversarial Networks.
- Miyato et al. 2018, Spectral Normalization for Generative Adversarial Networks.
- Mescheder et al. 2018, Which Training Methods for GANs do actually Converge?
)";

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto rate = configured_number(patient, {"lr_d", "d_lr", "lrd", "lr_disc", "discriminator_lr"})) {
    list.push_back(
        change("Divide the discriminator's learning rate by 4: " + number(*rate) + " -> " + number(*rate / 4) + ".",
               "lr_d", number(*rate), number(*rate / 4)));
  } else {
    list.push_back(advice("Give the discriminator a quarter of the generator's learning rate, or fewer steps."));
  }
  list.push_back(switch_to("Put spectral normalisation on every layer of the discriminator.", "spectral_norm", "on"));
  list.push_back(
      advice("Penalise the discriminator's gradient on real samples (R1), and smooth its real labels to 0.9."));
  list.push_back(advice("Check that real and generated samples have the same range: images in [-1, 1] beside tanh."));
  return list;
}

}  // namespace

Cause discriminator_too_strong() {
  return {
      "discriminator-too-strong",
      "The discriminator learns faster than the generator",
      kDoc,
      -2.0,
      {{"discriminator-overpowers-generator", 3.4, -0.5, "it is nearly always right, and its gradient is gone"}},
      "",
      "Hold the discriminator still for a few hundred steps: if the generator's loss falls, it only needs a chance.",
      nullptr,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
