// rl: how to read reinforcement learning.
#include "osler/diagnosis/guide.h"

namespace osler::guide {
namespace {

constexpr std::string_view kDoc = R"(
## The reward decides, not the loss
An agent makes its own data, so a loss says how surprised the learner is, not how good the policy is. The Q loss of a
healthy soft actor-critic rises fifty-fold with the return; that of a failing DQN falls while the reward collapses. Osler
judges such runs by the reward and leaves the findings on losses out.

## Know what the column holds
- `ep_rew_mean` is a mean over the last 100 episodes: smooth, late, and of one episode only at its first point.
- A running sum, a best so far or a mean over the whole history is not the present reward.
- `entropy_loss` is minus the entropy. For a Gaussian it may have either sign.
- Spinning Up's `LossPi` and the policy loss of PPO are near zero by construction.
- The loss is zero until learning starts, and while epsilon is high the agent acts at random on purpose.

## In which order to look
1. Does the reward move at all? [reward-stuck-from-start](reward-stuck-from-start.md): count how often a random policy meets
   the reward. The same number in every episode is a reward that is too sparse or an environment that is faulty.
2. Is it better than the untrained policy? [reward-worse-than-start](reward-worse-than-start.md) is easy to miss when only the
   end of a curve is looked at.
3. Was something learned and lost? [reward-collapse](reward-collapse.md), [reward-oscillating](reward-oscillating.md): look at
   the divergence of single updates, [kl-blow-up](kl-blow-up.md), at the time of the fall.
4. Does the policy explore? Entropy that grows without end is a bonus that pays better than the task
   ([policy-entropy-explosion](policy-entropy-explosion.md)); entropy that is gone before the reward has risen is a guess that
   was settled too early ([policy-entropy-collapse](policy-entropy-collapse.md)).
5. Does the critic learn? An explained variance at or below zero while returns vary
   ([value-function-not-learning](value-function-not-learning.md)), a loss that grows by orders of magnitude
   ([value-loss-explosion](value-loss-explosion.md)), promises beyond any return
   ([q-value-divergence](q-value-divergence.md)).
6. Does evaluation agree? [eval-contradicts-rollout](eval-contradicts-rollout.md): normalisation, wrappers, a deterministic
   policy. One bad evaluation means nothing, ten in a row are evidence.

## What looks ill and is not
- Single episodes that scatter by as much as was learned.
- A flat start in a hard exploration problem, and a fall where the task gets harder on purpose.
- An explained variance far below zero once every episode earns the same: there is no variance left to explain.
- A critic's loss that rises together with the return.

## What to log
The reward of single episodes or a short mean, episode length, evaluation in an environment of its own, entropy, the
divergence and clipped share of updates, value loss and explained variance (or Q values), the learning rate, and the
configuration: with `ent_coef`, `n_epochs`, `clip_range`, `tau` and `gamma` in the log, remedies come with numbers.

## References
- Henderson et al. 2018, Deep Reinforcement Learning that Matters.
- Andrychowicz et al. 2021, What Matters in On-Policy Reinforcement Learning?
- Engstrom et al. 2020, Implementation Matters in Deep Policy Gradients.
)";

}  // namespace

Guide rl() {
  return {"rl", "Reading reinforcement learning", kDoc};
}

}  // namespace osler::guide
