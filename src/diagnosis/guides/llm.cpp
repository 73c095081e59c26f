// llm: how to read the training and tuning of language models.
#include "osler/diagnosis/guide.h"

namespace osler::guide {
namespace {

constexpr std::string_view kDoc = R"(
## Pre-training
The loss begins near ln of the vocabulary: 10.8 for 50,000 tokens, 11.8 for 128,000. Far above it the initialisation or the
labels are wrong ([initial-loss-wrong](initial-loss-wrong.md)). It then falls like a power of the tokens, so that half of the
way to the end looks flat and is not. Compare at equal tokens, not at equal steps.

Spikes are common. What matters is what comes after: a return within some hundred steps is an accident, a level that stays
up is [loss-diverging](loss-diverging.md). The gradient norm tells earlier than the loss.

## Fine-tuning
A pre-trained model starts low: a first loss near ln of the vocabulary means wrong weights, tokenizer or template. A
staircase that steps down where an epoch begins is learning by heart ([epoch-sawtooth](epoch-sawtooth.md),
[overfitting](overfitting.md)); one to three epochs are usual.

## Preference tuning
DPO starts at ln 2 = 0.693 because chosen and rejected answers are equally likely at first, or at a multiple of it where
the loss is scaled. The margin between their rewards should grow. That both rewards fall is usual; that only their
difference grows while the chosen answer becomes unlikely is worth a look at the text.

## Tuning by rewards: PPO, GRPO, RLOO
1. The reward decides. A loss and a gradient of zero are normal when a whole group is right, and a collapse when it is
   wrong: [reward-without-variance](reward-without-variance.md) tells the two apart by the reward.
2. Length: answers that all run into the limit cannot be graded
   ([completions-truncated](completions-truncated.md)). From the first step on the limit is too short; later on the model has
   lost its end.
3. Entropy: from 0.8 to 7 the text dissolves ([policy-entropy-explosion](policy-entropy-explosion.md)); near zero every answer
   is the same one.
4. Distance to the reference: grows steadily in every healthy run. Without a bound, and with held-out scores that fall, the
   reward is being gamed ([reward-hacking](reward-hacking.md)).
5. [reward-collapse](reward-collapse.md): go back to the checkpoint at the peak, with a third of the rate.

Signs of collapse come together: the reward falls and stays down, the clipped share of completions and the share of groups
without variance go to one, the gradient to zero.

## What to log
Loss, gradient norm, learning rate, tokens; for tuning by rewards also the reward and its spread, completion length, the
share that was cut off, entropy, the divergence from the reference, and a held-out score that the reward does not see.

## References
- Chowdhery et al. 2022, PaLM: spikes and how they were passed.
- Rafailov et al. 2023, Direct Preference Optimization.
- Shao et al. 2024, DeepSeekMath: group relative policy optimization.
- Gao et al. 2023, Scaling Laws for Reward Model Overoptimization.
)";

}  // namespace

Guide llm() {
  return {"llm", "Reading language models", kDoc};
}

}  // namespace osler::guide
