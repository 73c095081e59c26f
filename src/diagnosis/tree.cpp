// The diagnosis tree as a table, and the walk through it.
#include "osler/diagnosis/tree.h"

#include <algorithm>
#include <cassert>

namespace osler {
namespace {

/// Broken numbers, and losses that stay where they began.
std::vector<TreeNode> broken_or_stuck() {  // NOLINT(readability-function-size): a table
  return {
      {"finite",
       "Did a loss, a gradient or a weight turn NaN or infinite?",
       {"loss-nonfinite-at-start", "loss-nonfinite-later", "gradient-nonfinite", "weights-nonfinite"},
       "finite-when",
       "rewarded",
       {}},
      {"finite-when", "Within the first steps?", {"loss-nonfinite-at-start"}, "broken-at-start", "finite-grew", {}},
      {"broken-at-start",
       "Broken before it learned: lower the learning rate ten times, look for log, division and square root of zero, "
       "and "
       "for NaN in the data. The NaN replay names the operation.",
       {},
       "",
       "",
       {"lr-too-high", "log-of-zero", "corrupt-data", "bad-initialization"}},
      {"finite-grew",
       "Did gradients, weights or activations grow before it?",
       {"exploding-gradients", "exploding-layer", "weight-norm-exploding", "exploding-activations", "loss-diverging",
        "loss-scale-collapsing", "logit-growth"},
       "exploded",
       "sudden",
       {}},
      {"exploded",
       "It exploded: clip the global gradient norm, lower the learning rate; in half precision scale the loss.",
       {},
       "",
       "",
       {"exploding-signal", "lr-too-high", "no-clipping", "fp16-overflow"}},
      {"sudden",
       "It broke without warning: a single batch or an unstable operation. Replay the step under the NaN tracer.",
       {},
       "",
       "",
       {"log-of-zero", "division-by-zero", "corrupt-data", "exp-overflow"}},
      {"moves",
       "Does the loss stay where it began?",
       {"loss-stuck-from-start", "loss-exactly-zero", "learning-rate-zero", "vanishing-gradients"},
       "stuck-gradients",
       "measures",
       {}},
      {"measures",
       "Does the loss fall below any bound, or has a part of it died?",
       {"loss-negative-unbounded", "part-of-loss-dead", "posterior-collapse", "outputs-squashed-twice",
        "targets-broadcast", "softmax-over-samples"},
       "wrong-measure",
       "stable",
       {}},
      {"wrong-measure",
       "What is minimised is not what is meant: check labels, masks, signs and the weights of the parts.",
       {},
       "",
       "",
       {"wrong-loss-function", "wrong-labels", "divergence-weight-too-large"}},
      {"stuck-gradients",
       "Are gradients missing, vanishing or mostly zero?",
       {"vanishing-gradients", "vanishing-by-depth", "dead-layer", "silent-layer", "gradients-mostly-zero",
        "dead-neurons", "saturated-activations", "weights-frozen", "parameters-not-optimized"},
       "no-signal",
       "stuck-rate",
       {}},
      {"no-signal",
       "The error does not reach the weights: another activation, better initialisation, residual connections, "
       "normalisation; check that every parameter is in the graph and in the optimizer.",
       {},
       "",
       "",
       {"vanishing-signal", "dead-units", "disconnected-graph", "bad-initialization", "frozen-parameters"}},
      {"stuck-rate",
       "Is the learning rate zero, or are the updates too small to matter?",
       {"learning-rate-zero", "updates-too-small", "updates-lost-to-precision"},
       "rate-too-low",
       "stuck-pipeline",
       {}},
      {"rate-too-low",
       "The steps are too small: raise the learning rate; the LR range test gives the value.",
       {},
       "",
       "",
       {"lr-too-low", "low-precision-update"}},
      {"stuck-pipeline",
       "Gradients flow and nothing is learned: try to overfit one batch. If that fails the fault is in labels, loss or "
       "data, not in the hyperparameters; if it succeeds, raise the learning rate or check the initialisation.",
       {},
       "",
       "",
       {"lr-too-low", "wrong-labels", "wrong-loss-function", "bad-initialization", "lr-too-high"}},
  };
}

/// Agents that are judged by a reward, and networks that play against each other: their losses say little.
std::vector<TreeNode> agents_and_games() {  // NOLINT(readability-function-size): a table
  return {
      {"rewarded",
       "Is it judged by a reward or by a game of two networks, and does that go wrong?",
       {"reward-stuck-from-start", "reward-collapse", "reward-worse-than-start", "reward-oscillating", "reward-plateau",
        "eval-contradicts-rollout", "reward-hacking", "reward-without-variance", "completions-truncated", "kl-blow-up",
        "policy-entropy-explosion", "policy-entropy-collapse", "value-function-not-learning", "value-loss-explosion",
        "q-value-divergence", "discriminator-overpowers-generator"},
       "reward-trusted",
       "moves",
       {}},
      {"reward-trusted",
       "Does evaluation contradict the reward?",
       {"eval-contradicts-rollout", "reward-hacking"},
       "wrong-judge",
       "critic-runs-away",
       {}},
      {"wrong-judge",
       "Mend the judge first: evaluate in the training's own environment, read what the reward pays for.",
       {},
       "",
       "",
       {"validation-pipeline-bug", "environment-bug", "reference-penalty-too-weak"}},
      {"critic-runs-away",
       "Does the critic's loss explode, or promise returns that were never earned?",
       {"q-value-divergence", "value-loss-explosion"},
       "critic",
       "policy-leaps",
       {}},
      {"critic",
       "The critic feeds on itself: slow its target down, lower its rate, clip its gradients, scale the rewards.",
       {},
       "",
       "",
       {"target-network-too-fast", "lr-too-high", "reward-scale", "no-clipping"}},
      {"policy-leaps",
       "Was something learned and lost, or does the policy leap?",
       {"kl-blow-up", "reward-collapse", "reward-oscillating", "reward-worse-than-start"},
       "leaps",
       "exploration",
       {}},
      {"leaps",
       "Updates go further than their data: fewer passes over each batch, a lower rate, a limit on the divergence. Go "
       "back to the checkpoint at the peak.",
       {},
       "",
       "",
       {"lr-too-high", "too-many-epochs-per-batch", "environment-bug", "batch-too-small"}},
      {"exploration",
       "Is the policy far too random, or no longer random at all?",
       {"policy-entropy-explosion", "policy-entropy-collapse"},
       "explores-wrongly",
       "game",
       {}},
      {"explores-wrongly",
       "The bonus for entropy does not fit: divide it by ten where entropy grows, raise it where the policy is "
       "certain.",
       {},
       "",
       "",
       {"entropy-bonus-too-large", "entropy-bonus-too-small", "sparse-reward"}},
      {"game",
       "Has the discriminator won?",
       {"discriminator-overpowers-generator"},
       "game-lost",
       "no-signal-from-reward",
       {}},
      {"game-lost",
       "The generator gets no gradient: hold the discriminator back by its rate, its steps or spectral normalisation.",
       {},
       "",
       "",
       {"discriminator-too-strong", "lr-too-high"}},
      {"no-signal-from-reward",
       "The reward does not reach the policy: count how often a random policy meets it, play the environment by hand, "
       "look at the size of returns.",
       {},
       "",
       "",
       {"sparse-reward", "environment-bug", "reward-scale", "length-limit-too-short", "lr-too-low"}},
  };
}

/// Losses that climb, swing, spike or stop too early.
std::vector<TreeNode> unstable_or_slow() {
  return {
      {"stable",
       "Does the loss climb, swing or spike?",
       {"loss-diverging", "exploding-gradients", "loss-oscillating", "loss-spikes", "late-loss-variance",
        "gradient-norm-oscillating"},
       "unstable-kind",
       "improves",
       {}},
      {"unstable-kind", "Only in single jumps that recover?", {"loss-spikes"}, "spikes", "too-fast", {}},
      {"spikes",
       "Single batches upset it: look at the data of those steps, clip the gradients, use a robust loss.",
       {},
       "",
       "",
       {"bad-batches", "corrupt-data", "no-clipping", "lr-too-high"}},
      {"too-fast",
       "The steps are too large for the surface: lower the learning rate three to ten times, warm up, decay, clip.",
       {},
       "",
       "",
       {"lr-too-high", "no-clipping", "warmup-missing", "batch-too-small"}},
      {"improves",
       "Did training stop improving too early?",
       {"loss-stuck-after-drop", "loss-plateau", "loss-too-slow", "learning-rate-spent", "learning-rate-jump",
        "underfitting"},
       "early-rate",
       "generalises",
       {}},
      {"early-rate",
       "Had the learning rate fallen away, or jumped, when it stopped?",
       {"learning-rate-spent", "learning-rate-jump"},
       "schedule",
       "early-both",
       {}},
      {"schedule",
       "The schedule ended training before the model did: decay later or slower, restore the scheduler on resume.",
       {},
       "",
       "",
       {"lr-decayed-too-fast", "scheduler-state-lost"}},
      {"early-both",
       "Are training and validation both high and close together?",
       {"underfitting"},
       "too-small",
       "floor-or-saddle",
       {}},
      {"too-small",
       "The model cannot fit the data: a larger model, less regularisation, a higher learning rate; audit the data.",
       {},
       "",
       "",
       {"model-too-small", "too-much-regularization", "lr-too-low", "wrong-labels"}},
      {"floor-or-saddle",
       "Converged, on a saddle, or too slow: the curvature probe tells a minimum from a saddle, the LR range test "
       "whether "
       "larger steps would still gain.",
       {},
       "",
       "",
       {"converged", "saddle-point", "lr-too-low", "lr-decayed-too-fast"}},
  };
}

/// Validation, layers, data and the machine.
std::vector<TreeNode> beyond_the_loss() {  // NOLINT(readability-function-size): a table
  return {
      {"generalises",
       "Does validation part from training?",
       {"overfitting", "overconfidence", "validation-frozen", "validation-better-than-training",
        "metric-contradicts-loss", "confidence-without-learning", "validation-below-chance", "predicts-one-class"},
       "validation-frozen",
       "inside",
       {}},
      {"validation-frozen",
       "Is validation frozen, better than training, below chance, or at odds with its metric?",
       {"validation-frozen", "validation-better-than-training", "metric-contradicts-loss", "validation-below-chance",
        "predicts-one-class"},
       "pipeline",
       "overfit",
       {}},
      {"pipeline",
       "Do not trust the validation numbers yet: compute the metric from scratch, check mode, data and checkpoint.",
       {},
       "",
       "",
       {"validation-pipeline-bug", "stale-checkpoint", "metric-bug", "eval-mode-left-on", "data-leak"}},
      {"overfit",
       "It learns the training set by heart: keep the best checkpoint, then more data, regularisation, a smaller "
       "model.",
       {},
       "",
       "",
       {"too-little-data", "model-too-large", "label-noise"}},
      {"inside",
       "Is something out of range in layers, activations or data?",
       {"vanishing-by-depth",
        "dead-layer",
        "silent-layer",
        "exploding-layer",
        "gradients-mostly-zero",
        "dead-neurons",
        "saturated-activations",
        "vanishing-activations",
        "exploding-activations",
        "collapsed-representation",
        "weight-norm-exploding",
        "weight-norm-collapsing",
        "updates-too-large",
        "updates-too-small",
        "poor-initialization",
        "batch-nonfinite",
        "batch-extreme",
        "batch-unnormalized",
        "labels-invalid",
        "split-overlap",
        "batch-repeated",
        "initial-loss-wrong",
        "loss-beyond-chance",
        "clipping-always",
        "no-warmup",
        "epoch-sawtooth",
        "eval-mode-in-training",
        "train-mode-in-validation"},
       "inside-found",
       "machine",
       {}},
      {"inside-found",
       "Mend this before anything else: it limits what the rest of the run can show.",
       {},
       "",
       "",
       {"vanishing-signal", "dead-units", "saturation", "bad-initialization", "data-not-normalized"}},
      {"machine",
       "Does the machine lose time or memory?",
       {"run-crashed", "step-time-cliff", "training-stalled", "input-starved", "memory-growing", "straggler-rank",
        "rank-divergence"},
       "machine-found",
       "healthy",
       {}},
      {"machine-found",
       "The training is sound and the machine is not: look at data loading, memory, other jobs and stragglers.",
       {},
       "",
       "",
       {"rank-desync"}},
      {"healthy",
       "Nothing wrong that the log can show. Before a long run, let the pre-flight checkup pass.",
       {},
       "",
       "",
       {"converged"}},
  };
}

const std::vector<TreeNode>& nodes() {
  static const std::vector<TreeNode> tree = [] {
    std::vector<TreeNode> all = broken_or_stuck();
    // Parents come before their children: the question about rewards leads on to that about a loss that stays.
    std::vector<TreeNode> agents = agents_and_games();
    const auto moves = std::find_if(all.begin(), all.end(), [](const TreeNode& node) { return node.id == "moves"; });
    all.insert(moves, agents.begin(), agents.end());
    for (const auto& more : {unstable_or_slow(), beyond_the_loss()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return tree;
}

/// What a report says about any of a question's findings.
TreeStep ask(const TreeNode& node, const Report& report) {
  const auto among = [&](const std::string& id) {
    return std::find(node.findings.begin(), node.findings.end(), id) != node.findings.end();
  };
  // Findings stand in order of their weight, so the first that fits is the one to quote.
  for (const Observation& finding : report.findings) {
    if (finding.severity != Severity::note && among(finding.finding)) {
      return {&node, Answer::yes, finding.finding + ": " + finding.summary};
    }
  }
  const auto ran = std::count_if(report.checks_ran.begin(), report.checks_ran.end(), among);
  if (ran == 0) {
    for (const NotRun& check : report.checks_not_run) {
      if (among(check.finding)) return {&node, Answer::unknown, check.reason};
    }
    return {&node, Answer::unknown, "not checked"};
  }
  return {&node, Answer::no,
          std::to_string(ran) + " of " + std::to_string(node.findings.size()) + " checks ran and found nothing"};
}

}  // namespace

std::span<const TreeNode> diagnosis_tree() {
  return nodes();
}

const TreeNode& tree_node(std::string_view id) {
  const auto found = std::find_if(nodes().begin(), nodes().end(), [&](const TreeNode& node) { return node.id == id; });
  assert(found != nodes().end());
  return *found;
}

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::yes:
      return "yes";
    case Answer::no:
      return "no";
    case Answer::unknown:
      break;
  }
  return "unknown";
}

std::vector<TreeStep> walk_tree(const Report& report) {
  std::vector<TreeStep> way;
  const TreeNode* node = &nodes().front();
  while (!node->leaf()) {
    way.push_back(ask(*node, report));
    node = &tree_node(way.back().answer == Answer::yes ? node->yes : node->no);
  }
  way.push_back({node, Answer::yes, {}});
  return way;
}

}  // namespace osler
