// Cases of what a monitor inside the training process records beside curves: activations, batches, modes, ranks.
#include <cmath>
#include <concepts>
#include <limits>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kFlat = {"loss-plateau"};
const std::vector<std::string> kStuck = {"loss-stuck-from-start", "loss-plateau"};
const std::vector<std::string> kBroken = {"loss-plateau", "weight-norm-exploding"};

double fall(double x) {
  return 0.4 + 1.9 * std::exp(-4.0 * x);
}

/// A run that learns, with one more series of `shape(progress)`.
template <std::invocable<double> Shape>
Table with(simulate::Random& random, const std::string& name, Shape shape, double noise = 0.02) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  table.add(name, shape, noise);
  return table;
}

/// The same with a constant.
Table with(simulate::Random& random, const std::string& name, double value, double noise = 0.02) {
  return with(
      random, name, [&](double) { return value; }, noise);
}

/// Three layers with one statistic of their activations; the middle one has `value`, the others `usual`.
Table layers(simulate::Random& random, const std::string& statistic, double value, double usual, bool learns = true) {
  Table table(random, 60, 10);
  if (learns) {
    table.add("loss", fall, 0.02);
  } else {
    table.add("loss", 2.3026, 0.002);
  }
  table.add("activations/fc1 -> relu#" + statistic, usual, 0.05);
  table.add("activations/fc2 -> relu#" + statistic, value, 0.05);
  table.add("activations/fc3#" + statistic, usual, 0.05);
  return table;
}

/// A column of 0 with 1 on every n-th row; 0: nowhere.
Table every(simulate::Random& random, const std::string& name, std::size_t n) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  simulate::Levels values(60, 0.0);
  for (std::size_t row = 0; n > 0 && row < values.size(); row += n) values[row] = 1;
  table.put(name, values);
  return table;
}

Table balance(simulate::Random& random, double share, double classes) {
  return with(random, "osler/batch/largest-class-share", share, 0.01).add("osler/batch/classes", classes);
}

Table batches(simulate::Random& random, double center, double deviation) {
  return with(random, "osler/batch/center", center).add("osler/batch/deviation", deviation, 0.02);
}

/// Labels: invalid ones on every n-th batch, one label for all on every m-th.
Table labels(simulate::Random& random, std::size_t n, std::size_t m) {
  Table table = every(random, "osler/batch/invalid-labels-share", n);
  simulate::Levels values(60, 0.0);
  for (std::size_t row = 0; m > 0 && row < values.size(); row += m) values[row] = 1;
  return table.put("osler/batch/constant-label", values);
}

Table repeated(simulate::Random& random, std::size_t same_batch, std::size_t one_sample) {
  Table table = every(random, "osler/batch/repeated", same_batch);
  simulate::Levels values(60, 0.0);
  for (std::size_t row = 0; one_sample > 0 && row < values.size(); row += one_sample) values[row] = 1;
  return table.put("osler/batch/identical-samples", values);
}

Table scheduled(simulate::Random& random, double missing, double last_rate) {
  Table table = with(random, "osler/check/scheduler-not-checkpointed", missing, 0);
  return table.add("lr", [&](double x) { return 0.1 * std::pow(last_rate / 0.1, x); });
}

Table ranks(simulate::Random& random, double weights, double gradients) {
  return with(random, "osler/ranks/weight-difference", weights).add("osler/ranks/gradient-difference", gradients, 0.1);
}

/// Rank 2 is slowest on all but each n-th comparison, by that factor.
Table slowest(simulate::Random& random, double ratio, std::size_t n) {
  Table table = with(random, "osler/ranks/slowest-ratio", ratio, 0.03);
  simulate::Levels values(60, 2.0);
  for (std::size_t row = 0; n > 0 && row < values.size(); row += n) values[row] = static_cast<double>(row % 5);
  return table.put("osler/ranks/slowest", values);
}

Table waiting(simulate::Random& random, double data) {
  return with(random, "osler/time/data", data, 0.05).add("step_time", 0.1, 0.03);
}

Table memory(simulate::Random& random, double growth) {
  return with(
      random, "osler/memory/resident", [&](double x) { return 5e8 * (1 + growth * x); }, 0.001);
}

Table noise_scale(simulate::Random& random, double scale) {
  return with(random, "osler/gradient-noise-scale", scale, 0.1).add("osler/batch/size", 32.0);
}

/// Updates of six layers; those from `first` up to but not including `last` never move.
Table updates(simulate::Random& random, int first, int last) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 6; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".weight";
    table.add("weights/" + layer + "#norm", 12.0, 0.002);
    table.add("updates/" + layer + "#norm", i >= first && i < last ? 0.0 : 0.012, 0.1);
  }
  return table;
}

/// Weight norms of three layers; the second is not finite from that row on.
Table weights(simulate::Random& random, std::size_t from) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 3; ++i) {
    table.add("weights/layers." + std::to_string(i) + ".weight#norm", 12.0, 0.002);
    if (i == 1) table.replace(from, 60, kNan);
  }
  return table;
}

Table left_out(simulate::Random& random, double count) {
  Table table = with(random, "osler/check/parameters-not-optimized", count, 0);
  if (count > 0) table.add("osler/check/parameters-not-optimized/head.weight", 1.0);
  return table;
}

/// The first weights of a layer, measured once.
Table first_weights(simulate::Random& random, double scale, double rows) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (const std::string& layer : {std::string("fc1.weight"), std::string("fc2.weight")}) {
    table.add("osler/init/scale/" + layer, layer == "fc2.weight" ? scale : 0.4);
    table.add("osler/init/rows/" + layer, layer == "fc2.weight" ? rows : 0.9);
  }
  return table;
}

/// Updates that are lost, in a run that learns or in one that comes to a stop half way.
Table lost_updates(simulate::Random& random, double share, bool learns = true) {
  Table table(random, 60, 10);
  table.add(
      "loss", [&](double x) { return learns ? fall(x) : 1.2 + 1.1 * std::exp(-12.0 * x); }, 0.02);
  table.add("updates/fc1.weight#lost-share", share, 0.02);
  return table.add("updates/fc2.weight#lost-share", 0.02, 0.1);
}

using Random = simulate::Random;

std::vector<Recipe> activation_recipes() {
  return {
      at_least(sick(
                   "dead-neurons", "most", "Six in ten units of one layer are dead, and the loss stands still.",
                   [](Random& r) { return layers(r, "dead-share", 0.6, 0.01, false); }, {"dead-units"}, kStuck),
               Severity::critical),
      healthy(
          "dead-neurons", "most-while-learning", "Six in ten are dead, but the loss falls as it should: only a note.",
          [](Random& r) { return layers(r, "dead-share", 0.6, 0.01); }, kFlat),
      healthy(
          "dead-neurons", "few", "One in a hundred.", [](Random& r) { return layers(r, "dead-share", 0.01, 0.01); },
          kFlat),
      borderline(
          "dead-neurons", "tenth", "About a tenth of one layer.",
          [](Random& r) { return layers(r, "dead-share", 0.1, 0.01); }, kFlat),

      at_least(sick(
                   "saturated-activations", "most",
                   "Two thirds of one layer's outputs are saturated, and the loss stands still.",
                   [](Random& r) { return layers(r, "saturated-share", 0.67, 0.01, false); }, {"saturation"}, kStuck),
               Severity::critical),
      healthy(
          "saturated-activations", "most-while-learning",
          "Two thirds are saturated, but the loss falls as it should: only a note.",
          [](Random& r) { return layers(r, "saturated-share", 0.67, 0.01); }, kFlat),
      healthy(
          "saturated-activations", "few", "One in a hundred.",
          [](Random& r) { return layers(r, "saturated-share", 0.01, 0.01); }, kFlat),
      borderline(
          "saturated-activations", "tenth", "About a tenth.",
          [](Random& r) { return layers(r, "saturated-share", 0.1, 0.01); }, kFlat),

      sick(
          "vanishing-activations", "nothing-left", "A spread of 1e-8 in one layer.",
          [](Random& r) { return layers(r, "std", 1e-8, 0.7); }, {"vanishing-signal"}, kFlat),
      healthy(
          "vanishing-activations", "usual", "Spreads of about one.",
          [](Random& r) { return layers(r, "std", 0.6, 0.7); }, kFlat),
      borderline(
          "vanishing-activations", "faint", "A spread of 1e-6.", [](Random& r) { return layers(r, "std", 1e-6, 0.7); },
          kFlat),

      sick(
          "exploding-activations", "ten-thousand", "Outputs of 20 000.",
          [](Random& r) { return layers(r, "max", 2e4, 4); }, {"exploding-signal"}, kFlat),
      healthy(
          "exploding-activations", "usual", "Outputs of about four.", [](Random& r) { return layers(r, "max", 5, 4); },
          kFlat),
      borderline(
          "exploding-activations", "thousand", "Outputs of a thousand.",
          [](Random& r) { return layers(r, "max", 1000, 4); }, kFlat),

      sick(
          "collapsed-representation", "all-the-same", "Samples differ by a millionth.",
          [](Random& r) { return layers(r, "spread", 1e-6, 0.4); }, {}, kFlat),
      healthy(
          "collapsed-representation", "usual", "Samples differ by a third.",
          [](Random& r) { return layers(r, "spread", 0.3, 0.4); }, kFlat),
      borderline(
          "collapsed-representation", "close", "Samples differ by a ten-thousandth.",
          [](Random& r) { return layers(r, "spread", 1e-4, 0.4); }, kFlat),

      sick(
          "normalization-statistics-drift", "far", "Five deviations off.",
          [](Random& r) { return layers(r, "drift", 5, 0.1); }, {"normalization-momentum-too-small"}, kFlat),
      healthy(
          "normalization-statistics-drift", "near", "A tenth of a deviation.",
          [](Random& r) { return layers(r, "drift", 0.15, 0.1); }, kFlat),
      borderline(
          "normalization-statistics-drift", "two", "Two deviations.",
          [](Random& r) { return layers(r, "drift", 2, 0.1); }, kFlat),

      sick(
          "attention-entropy-collapse", "one-token", "Half a per cent of the largest entropy.",
          [](Random& r) { return layers(r, "entropy", 0.005, 0.6); }, {}, kFlat),
      healthy(
          "attention-entropy-collapse", "wide", "Most of the largest entropy.",
          [](Random& r) { return layers(r, "entropy", 0.5, 0.6); }, kFlat),
      borderline(
          "attention-entropy-collapse", "narrow", "Two per cent.",
          [](Random& r) { return layers(r, "entropy", 0.02, 0.6); }, kFlat),

      at_least(
          sick(
              "logit-growth", "on-and-on", "From 3 to 120 in a straight line.",
              [](Random& r) { return with(r, "osler/logits/max", [](double x) { return 3 + 117 * x; }); }, {}, kFlat),
          Severity::note),
      healthy(
          "logit-growth", "levels-off", "From 2 to 12, then level.",
          [](Random& r) { return with(r, "osler/logits/max", [](double x) { return 12 - 10 * std::exp(-6 * x); }); },
          kFlat),
      borderline(
          "logit-growth", "thirty", "From 4 to about 40.",
          [](Random& r) { return with(r, "osler/logits/max", [](double x) { return 4 + 36 * x; }); }, kFlat),
  };
}

std::vector<Recipe> data_recipes() {
  return {
      at_least(sick(
                   "batch-nonfinite", "now-and-then", "Every twelfth batch holds a NaN.",
                   [](Random& r) { return every(r, "osler/batch/nonfinite-share", 12); }, {"corrupt-data"}, kFlat),
               Severity::critical),
      healthy(
          "batch-nonfinite", "clean", "No batch does.",
          [](Random& r) { return every(r, "osler/batch/nonfinite-share", 0); }, kFlat),
      borderline(
          "batch-nonfinite", "once", "One batch does.",
          [](Random& r) { return every(r, "osler/batch/nonfinite-share", 60); }, kFlat),

      sick(
          "batch-extreme", "pixels", "Pixels from 0 to 255.",
          [](Random& r) { return with(r, "osler/batch/magnitude", 255, 0); }, {"data-not-normalized"}, kFlat),
      healthy(
          "batch-extreme", "normal", "Up to four.", [](Random& r) { return with(r, "osler/batch/magnitude", 4, 0.1); },
          kFlat),
      borderline(
          "batch-extreme", "hundred", "About a hundred.",
          [](Random& r) { return with(r, "osler/batch/magnitude", 100, 0.02); }, kFlat),

      sick(
          "batch-unnormalized", "pixels", "Mean 120, deviation 70.", [](Random& r) { return batches(r, 120, 70); },
          {"data-not-normalized"}, kFlat),
      healthy(
          "batch-unnormalized", "normal", "Mean 0.02, deviation 1.", [](Random& r) { return batches(r, 0.02, 1); },
          kFlat),
      healthy(
          "batch-unnormalized", "unit-pixels", "Pixels from 0 to 1.", [](Random& r) { return batches(r, 0.13, 0.31); },
          kFlat),
      borderline(
          "batch-unnormalized", "shifted", "Mean 3, deviation 1.", [](Random& r) { return batches(r, 3, 1); }, kFlat),

      at_least(sick(
                   "labels-invalid", "beyond", "Labels beyond the classes in every tenth batch.",
                   [](Random& r) { return labels(r, 10, 0); }, {"wrong-labels"}, kFlat),
               Severity::critical),
      qualified(sick(
                    "labels-invalid", "constant", "One label for all samples of every batch.",
                    [](Random& r) { return labels(r, 0, 1); }, {}, kFlat),
                "kind", "constant"),
      healthy(
          "labels-invalid", "valid", "Labels as they should be.", [](Random& r) { return labels(r, 0, 0); }, kFlat),
      borderline(
          "labels-invalid", "half", "One label in every second batch.", [](Random& r) { return labels(r, 0, 2); },
          kFlat),

      sick(
          "class-imbalance", "nine-of-ten", "92 % of one class among ten.",
          [](Random& r) { return balance(r, 0.92, 10); }, {"class-imbalance"}, kFlat),
      healthy(
          "class-imbalance", "even", "A sixth of a batch at most.", [](Random& r) { return balance(r, 0.16, 10); },
          kFlat),
      healthy(
          "class-imbalance", "two-even", "58 % of one class of two.", [](Random& r) { return balance(r, 0.58, 2); },
          kFlat),
      borderline(
          "class-imbalance", "eighty", "Eight in ten of one class of two.",
          [](Random& r) { return balance(r, 0.8, 2); }, kFlat),

      sick(
          "batch-repeated", "always", "The loader was never advanced.", [](Random& r) { return repeated(r, 1, 0); },
          {"bad-batches"}, kFlat),
      qualified(sick(
                    "batch-repeated", "one-sample", "Every batch is one sample many times.",
                    [](Random& r) { return repeated(r, 0, 1); }, {}, kFlat),
                "kind", "equal samples"),
      healthy(
          "batch-repeated", "fresh", "Fresh batches.", [](Random& r) { return repeated(r, 0, 0); }, kFlat),
      borderline(
          "batch-repeated", "half", "Every second batch had come before.", [](Random& r) { return repeated(r, 2, 0); },
          kFlat),

      at_least(sick(
                   "split-overlap", "third", "A third of the validation set is in the training set.",
                   [](Random& r) { return with(r, "osler/check/split-overlap", 0.33, 0); }, {"data-leak"}, kFlat),
               Severity::critical),
      healthy(
          "split-overlap", "disjoint", "Nothing is shared.",
          [](Random& r) { return with(r, "osler/check/split-overlap", 0, 0); }, kFlat),
      borderline(
          "split-overlap", "hundredth", "One in a hundred.",
          [](Random& r) { return with(r, "osler/check/split-overlap", 0.01, 0); }, kFlat),

      sick(
          "validation-augmented", "all", "Every sample differs when loaded again.",
          [](Random& r) { return with(r, "osler/check/validation-augmented", 1, 0); }, {"validation-pipeline-bug"},
          kFlat),
      healthy(
          "validation-augmented", "fixed", "All samples are the same.",
          [](Random& r) { return with(r, "osler/check/validation-augmented", 0, 0); }, kFlat),
      borderline(
          "validation-augmented", "few", "One in a thousand differs.",
          [](Random& r) { return with(r, "osler/check/validation-augmented", 0.001, 0); }, kFlat),
  };
}

std::vector<Recipe> live_recipes() {
  return {
      sick(
          "eval-mode-in-training", "always", "Evaluation mode on every step.",
          [](Random& r) { return every(r, "osler/check/eval-mode-in-training", 1); }, {"eval-mode-left-on"}, kFlat),
      healthy(
          "eval-mode-in-training", "training", "Training mode on every step.",
          [](Random& r) { return every(r, "osler/check/eval-mode-in-training", 0); }, kFlat),
      borderline(
          "eval-mode-in-training", "once", "Once in 60 looks.",
          [](Random& r) { return every(r, "osler/check/eval-mode-in-training", 60); }, kFlat),

      sick(
          "outputs-squashed-twice", "always", "A softmax before every cross-entropy.",
          [](Random& r) { return every(r, "osler/check/outputs-squashed-twice", 1); }, {"wrong-loss-function"}, kFlat),
      healthy(
          "outputs-squashed-twice", "raw", "Raw outputs at every look.",
          [](Random& r) { return every(r, "osler/check/outputs-squashed-twice", 0); }, kFlat),
      borderline(
          "outputs-squashed-twice", "a-third", "In one loss of three that take turns.",
          [](Random& r) { return every(r, "osler/check/outputs-squashed-twice", 3); }, kFlat),

      sick(
          "targets-broadcast", "always", "Outputs of [N, 1] against targets of [N] at every look.",
          [](Random& r) { return every(r, "osler/check/targets-broadcast", 1); }, {"wrong-loss-function"}, kFlat),
      healthy(
          "targets-broadcast", "alike", "Outputs and targets of one shape at every look.",
          [](Random& r) { return every(r, "osler/check/targets-broadcast", 0); }, kFlat),
      borderline(
          "targets-broadcast", "a-third", "In one loss of three that take turns.",
          [](Random& r) { return every(r, "osler/check/targets-broadcast", 3); }, kFlat),

      sick(
          "softmax-over-samples", "always", "A softmax along the batch before every loss.",
          [](Random& r) { return every(r, "osler/check/softmax-over-samples", 1); }, {"wrong-loss-function"}, kFlat),
      healthy(
          "softmax-over-samples", "classes", "Along the classes at every look.",
          [](Random& r) { return every(r, "osler/check/softmax-over-samples", 0); }, kFlat),
      borderline(
          "softmax-over-samples", "a-third", "In one loss of three that take turns.",
          [](Random& r) { return every(r, "osler/check/softmax-over-samples", 3); }, kFlat),

      sick(
          "train-mode-in-validation", "always", "Training mode on every validation batch.",
          [](Random& r) { return every(r, "osler/check/train-mode-in-validation", 1); }, {"validation-pipeline-bug"},
          kFlat),
      healthy(
          "train-mode-in-validation", "evaluation", "Evaluation mode throughout.",
          [](Random& r) { return every(r, "osler/check/train-mode-in-validation", 0); }, kFlat),
      borderline(
          "train-mode-in-validation", "once", "One batch of sixty.",
          [](Random& r) { return every(r, "osler/check/train-mode-in-validation", 60); }, kFlat),

      sick(
          "validation-builds-graph", "always", "Every validation output requires gradients.",
          [](Random& r) { return every(r, "osler/check/validation-builds-graph", 1); }, {}, kFlat),
      healthy(
          "validation-builds-graph", "none", "None does.",
          [](Random& r) { return every(r, "osler/check/validation-builds-graph", 0); }, kFlat),
      borderline(
          "validation-builds-graph", "once", "One of sixty.",
          [](Random& r) { return every(r, "osler/check/validation-builds-graph", 60); }, kFlat),

      sick(
          "parameters-not-optimized", "head", "Two tensors of the head were forgotten.",
          [](Random& r) { return left_out(r, 2); }, {"frozen-parameters"}, kFlat),
      healthy(
          "parameters-not-optimized", "all-known", "Every parameter is in a group.",
          [](Random& r) { return left_out(r, 0); }, kFlat),
      borderline(
          "parameters-not-optimized", "one", "One tensor is missing.", [](Random& r) { return left_out(r, 1); }, kFlat),

      sick(
          "scheduler-not-checkpointed", "decay", "The rate decays, checkpoints know nothing of it.",
          [](Random& r) { return scheduled(r, 1, 0.02); }, {}, kFlat),
      healthy(
          "scheduler-not-checkpointed", "saved", "The schedule is in the checkpoint.",
          [](Random& r) { return scheduled(r, 0, 0.02); }, kFlat),
      healthy(
          "scheduler-not-checkpointed", "constant-rate", "There is no schedule to save.",
          [](Random& r) { return scheduled(r, 1, 0.1); }, kFlat),
      borderline(
          "scheduler-not-checkpointed", "slight", "The rate falls by one per cent.",
          [](Random& r) { return scheduled(r, 1, 0.099); }, kFlat),

      at_least(sick(
                   "rank-divergence", "weights", "Weights differ by a thousandth.",
                   [](Random& r) { return ranks(r, 1e-3, 1e-8); }, {"rank-desync"}, kFlat),
               Severity::critical),
      healthy(
          "rank-divergence", "together", "Rounding alone.", [](Random& r) { return ranks(r, 1e-12, 1e-9); }, kFlat),
      borderline(
          "rank-divergence", "rounding", "A millionth.", [](Random& r) { return ranks(r, 1e-6, 1e-8); }, kFlat),

      qualified(sick(
                    "straggler-rank", "twice", "Rank 2 takes twice as long.",
                    [](Random& r) { return slowest(r, 2, 0); }, {}, kFlat),
                "rank", "2"),
      healthy(
          "straggler-rank", "even", "All within a few per cent.", [](Random& r) { return slowest(r, 1.05, 2); }, kFlat),
      borderline(
          "straggler-rank", "third", "A third slower.", [](Random& r) { return slowest(r, 1.3, 0); }, kFlat),

      sick(
          "input-starved", "waits", "Four fifths of a step are waiting.", [](Random& r) { return waiting(r, 0.08); },
          {}, kFlat),
      healthy(
          "input-starved", "fed", "Three per cent.", [](Random& r) { return waiting(r, 0.003); }, kFlat),
      borderline(
          "input-starved", "half", "Half of a step.", [](Random& r) { return waiting(r, 0.05); }, kFlat),

      sick(
          "memory-growing", "doubles", "Memory doubles over the run.", [](Random& r) { return memory(r, 1); }, {},
          kFlat),
      healthy(
          "memory-growing", "level", "Memory stays.", [](Random& r) { return memory(r, 0); }, kFlat),
      borderline(
          "memory-growing", "quarter", "A quarter more at the end.", [](Random& r) { return memory(r, 0.25); }, kFlat),

      sick(
          "gradients-accumulating", "never-cleared", "Each gradient contains the one before.",
          [](Random& r) { return with(r, "osler/check/gradients-carried", 1.02, 0.01); }, {"missing-zero-grad"}, kFlat),
      healthy(
          "gradients-accumulating", "fresh", "A third of the direction is shared.",
          [](Random& r) { return with(r, "osler/check/gradients-carried", 0.3, 0.2); }, kFlat),
      borderline(
          "gradients-accumulating", "alike", "Gradients that are much alike.",
          [](Random& r) { return with(r, "osler/check/gradients-carried", 0.9, 0.02); }, kFlat),

      at_least(sick(
                   "gradient-noise-dominates", "fifty-times", "Fifty times the batch size.",
                   [](Random& r) { return noise_scale(r, 1600); }, {}, kFlat),
               Severity::note),
      healthy(
          "gradient-noise-dominates", "equal", "About the batch size.", [](Random& r) { return noise_scale(r, 40); },
          kFlat),
      borderline(
          "gradient-noise-dominates", "twenty-times", "Twenty times.", [](Random& r) { return noise_scale(r, 640); },
          kFlat),

      between(at_least(sick(
                           "weights-nonfinite", "late", "One layer is NaN from two thirds on.",
                           [](Random& r) { return weights(r, 40); }, {}, kBroken),
                       Severity::critical),
              400, 400),
      healthy(
          "weights-nonfinite", "finite", "Numbers throughout.", [](Random& r) { return weights(r, 60); }, kFlat),
      borderline(
          "weights-nonfinite", "last-row", "The last row alone.", [](Random& r) { return weights(r, 59); }, kBroken),

      sick(
          "poor-initialization", "too-large", "Thirty times the size that fits.",
          [](Random& r) { return first_weights(r, 30, 0.9); }, {"bad-initialization"}, kFlat),
      qualified(sick(
                    "poor-initialization", "equal", "All units of a layer start equal.",
                    [](Random& r) { return first_weights(r, 0.4, 0); }, {"bad-initialization"}, kFlat),
                "kind", "equal rows"),
      healthy(
          "poor-initialization", "usual", "The size that fits.", [](Random& r) { return first_weights(r, 0.4, 0.9); },
          kFlat),
      borderline(
          "poor-initialization", "tenfold", "Ten times the size.", [](Random& r) { return first_weights(r, 10, 0.9); },
          kFlat),

      sick("updates-lost-to-precision", "most",
           "Eight in ten updates vanish, and the loss has come to a stop half way.",
           [](Random& r) { return lost_updates(r, 0.8, false); }, {"low-precision-update"},
           {"loss-plateau", "loss-stuck-after-drop"}),
      healthy(
          "updates-lost-to-precision", "most-while-learning", "Eight in ten vanish, but the loss falls: only a note.",
          [](Random& r) { return lost_updates(r, 0.8); }, kFlat),
      healthy(
          "updates-lost-to-precision", "few", "Three in a hundred.", [](Random& r) { return lost_updates(r, 0.03); },
          kFlat),
      borderline(
          "updates-lost-to-precision", "half", "Half of them.", [](Random& r) { return lost_updates(r, 0.5); }, kFlat),

      sick("weights-frozen", "between", "The third of six layers never moves.",
           [](Random& r) { return updates(r, 2, 3); }, {"frozen-parameters"}, {"loss-plateau", "updates-too-small"}),
      healthy(
          "weights-frozen", "all-move", "Every layer moves.", [](Random& r) { return updates(r, 0, 0); }, kFlat),
      borderline("weights-frozen", "backbone", "The first three of six, as in fine-tuning.",
                 [](Random& r) { return updates(r, 0, 3); }, {"loss-plateau", "updates-too-small"}),
  };
}

}  // namespace

Recipes monitor_recipes() {
  std::vector<Recipe> all = activation_recipes();
  for (const std::vector<Recipe>& more : {data_recipes(), live_recipes()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace osler::cases
