// Sick families that are trained for real: the cause is set, the curves follow.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/trained_run.h"

namespace osler::simulate {
namespace {

const std::vector<std::string> kBrokenLoss = {"loss-nonfinite-at-start", "loss-nonfinite-later", "loss-diverging",
                                              "loss-oscillating",        "loss-spikes",          "exploding-gradients",
                                              "late-loss-variance",      "initial-loss-wrong"};
const std::vector<std::string> kNoProgress = {"loss-stuck-from-start", "loss-plateau", "loss-too-slow",
                                              "loss-stuck-after-drop", "underfitting", "vanishing-gradients"};

SimulatedRun run_setup(Random& random, const Setup& setup, TrainedColumns columns, Truth truth) {
  columns.accuracy = columns.accuracy && setup.task.classifies();
  return run_of(random, train(setup.task, setup.training, random), setup.training, columns, std::move(truth));
}

Setup classification(Random& random) {
  Setup setup = sound_setup(random);
  while (!setup.task.classifies()) setup = sound_setup(random);
  return setup;
}

/// What a run that broke for a known reason shows, judged on its own rows.
std::string broken_finding(const std::vector<TrainedRow>& rows) {
  double best = rows.front().train_loss;
  for (const TrainedRow& row : rows) {
    if (!std::isfinite(row.train_loss)) {
      return row.step < 10 || &row == &rows.front() ? "loss-nonfinite-at-start" : "loss-nonfinite-later";
    }
    best = std::min(best, row.train_loss);
  }
  const double end = rows[rows.size() - 1 - rows.size() / 20].train_loss;
  return end > 3.0 * best && end > rows.front().train_loss ? "loss-diverging" : "loss-oscillating";
}

/// Whether a training got nowhere: not a number, or no better at its end than near its start.
bool got_nowhere(const std::vector<TrainedRow>& rows) {
  double sum = 0;
  for (std::size_t row = rows.size() * 3 / 4; row < rows.size(); ++row) sum += rows[row].train_loss;
  const double end = sum / static_cast<double>(rows.size() - rows.size() * 3 / 4);
  return !(end < 0.8 * rows.front().train_loss);
}

/// Whether norms leap again and again after the first steps, or the loss stops being a number.
bool norms_leap(const std::vector<TrainedRow>& rows) {
  std::vector<double> norms;
  if (!std::isfinite(rows.front().train_loss)) return false;  // not one number: nobody could tell
  for (const TrainedRow& row : rows) {
    if (!std::isfinite(row.train_loss)) return norms.size() > 5;
    norms.push_back(row.gradient_norm);
  }
  std::vector<double> sorted = norms;
  std::sort(sorted.begin(), sorted.end());
  const double calm = sorted[sorted.size() / 4];
  const auto settled = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 10);
  return std::count_if(settled, norms.end(), [&](double norm) { return norm > 100.0 && norm > 60.0 * calm; }) >= 4;
}

/// The rate is raised until training breaks, so that all ways of breaking are seen: from slow swings to overflow.
SimulatedRun rate_too_high(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.log_every = static_cast<std::size_t>(random.pick({1, 5, 20}));
  setup.training.validate_every = 10;
  setup.training.rate *= 10.0;
  std::vector<TrainedRow> rows;
  for (int attempt = 0; attempt < 8; ++attempt) {
    setup.training.rate *= random.uniform(2.0, 4.0);
    rows = train(setup.task, setup.training, random);
    if (got_nowhere(rows)) break;
  }
  TrainedColumns columns = any_columns(random);
  columns.rate = true;
  columns.accuracy = columns.accuracy && setup.task.classifies();
  return run_of(random, rows, setup.training, columns,
                sick(broken_finding(rows), {"lr-too-high", "exploding-signal"}, both(kBrokenLoss, kNoProgress),
                     both(kUnstable, {"validation-frozen", "overfitting", "dead-layer"})));
}

SimulatedRun rate_too_low(Random& random) {
  Setup setup = classification(random);
  setup.training.optimiser = random.pick({Optimiser::sgd, Optimiser::adam});
  setup.training.rate =
      setup.training.optimiser == Optimiser::sgd ? random.log_uniform(1e-6, 1e-5) : random.log_uniform(1e-8, 3e-7);
  setup.training.log_single_batches = false;
  TrainedColumns columns = any_columns(random);
  columns.rate = true;
  return run_setup(random, setup, columns,
                   sick("loss-stuck-from-start", {"lr-too-low"}, kNoProgress, {"validation-frozen"}));
}

/// Every weight starts at (almost) zero: the units of a layer stay alike and the signal dies.
SimulatedRun tiny_weights(Random& random) {
  Setup setup = classification(random);
  setup.training.hidden = {24, 24, 24, 24};
  setup.training.activation = random.pick({Activation::relu, Activation::tanh});
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = 0.03;
  setup.training.init = random.log_uniform(1e-4, 1e-2);
  TrainedColumns columns = any_columns(random);
  columns.gradient = true;
  return run_setup(
      random, setup, columns,
      sick("loss-stuck-from-start", {"bad-initialization", "vanishing-signal"}, kNoProgress, {"validation-frozen"}));
}

SimulatedRun huge_weights(Random& random) {
  Setup setup = classification(random);
  setup.training.hidden = {32, 32};
  setup.training.activation = Activation::relu;
  setup.training.optimiser = Optimiser::adam;
  setup.training.rate = 2e-3;
  setup.training.init = random.uniform(4.0, 8.0);
  setup.training.log_every = static_cast<std::size_t>(random.pick({1, 2, 5}));
  setup.training.validate_every = 20;
  TrainedColumns columns = any_columns(random);
  columns.accuracy = true;  // without it nobody could tell how many classes there are
  std::vector<TrainedRow> rows;
  const double chance = std::log(static_cast<double>(setup.task.outputs));
  for (int attempt = 0; attempt < 8; ++attempt) {  // until the first logged losses show it
    rows = train(setup.task, setup.training, random);
    if (rows.front().train_loss > 8.0 * chance && rows.back().train_loss < chance) break;
    setup.training.init = random.uniform(4.0, 10.0);
  }
  return run_of(random, rows, setup.training, columns,
                sick("initial-loss-wrong", {"bad-initialization", "data-not-normalized", "exploding-signal"},
                     {"exploding-gradients", "overfitting", "overconfidence"},
                     both(kBrokenLoss, both(kNoProgress, {"metric-contradicts-loss"}))));
}

SimulatedRun deep_sigmoid(Random& random) {
  Setup setup = classification(random);
  setup.training.hidden = std::vector<std::size_t>(static_cast<std::size_t>(random.integer(6, 9)), 16);
  setup.training.activation = Activation::sigmoid;
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = random.log_uniform(0.01, 0.1);
  setup.training.log_single_batches = false;
  return run_setup(random, setup, any_columns(random),
                   sick("loss-stuck-from-start", {"vanishing-signal", "saturation", "bad-initialization"}, kNoProgress,
                        {"validation-frozen"}));
}

SimulatedRun dead_units(Random& random) {
  Setup setup = classification(random);
  setup.training.hidden = {32};
  setup.training.activation = Activation::relu;
  setup.training.hidden_bias = -30.0;
  setup.training.log_single_batches = false;
  TrainedColumns columns = any_columns(random);
  columns.gradient = true;
  return run_setup(random, setup, columns,
                   sick("loss-stuck-from-start", {"dead-units", "disconnected-graph", "bad-initialization"},
                        kNoProgress, {"validation-frozen", "dead-layer"}));
}

SimulatedRun exploding_recurrence(Random& random) {
  Recurrence plan;
  plan.steps = 600;
  std::vector<TrainedRow> rows;
  bool leaps = false;
  // Some explode in the first steps only and are calm from then on: these show nothing.
  for (int attempt = 0; attempt < 10 && !leaps; ++attempt) {
    plan.init = random.uniform(2.0, 2.6);
    plan.length = static_cast<std::size_t>(random.integer(15, 30));
    plan.rate = random.log_uniform(1e-8, 1e-5);
    std::vector<TrainedRow> drawn = train_recurrent(plan, random);
    leaps = norms_leap(drawn);
    if (leaps || rows.empty() || !std::isfinite(drawn.front().train_loss)) rows = std::move(drawn);
  }
  // What was never a number shows that it broke, but not why.
  const bool at_once = !leaps && !std::isfinite(rows.front().train_loss);
  std::vector<std::string> causes = {"exploding-signal", "no-clipping", "lr-too-high", "bad-initialization"};
  if (at_once) causes.clear();
  return run_of(random, rows, Training(), {false, false, true, true},
                sick(at_once ? "loss-nonfinite-at-start" : "exploding-gradients", std::move(causes),
                     both(kBrokenLoss, {"gradient-norm-oscillating"}),
                     both(kUnstable, both(kNoProgress, {"learning-rate-spent"}))));
}

SimulatedRun few_examples(Random& random) {
  Setup setup;
  const auto classes = static_cast<std::size_t>(random.integer(2, 4));
  setup.task = blobs(random, classes, 12, static_cast<std::size_t>(random.integer(60, 120)), random.uniform(1.0, 1.6));
  spoil_labels(setup.task, random.uniform(0.1, 0.25), random);
  setup.training.hidden = {48, 48};
  setup.training.rate = random.log_uniform(1e-3, 4e-3);
  setup.training.steps = 1200;
  setup.training.log_every = static_cast<std::size_t>(random.integer(8, 24));
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(random, setup, columns,
                   sick("overfitting", {"too-little-data", "model-too-large", "label-noise"}, {"overconfidence"},
                        {"loss-plateau", "late-loss-variance", "metric-contradicts-loss"}));
}

SimulatedRun model_too_small(Random& random) {
  Setup setup;
  setup.task = spirals(random, static_cast<std::size_t>(random.integer(2, 4)), 1500, random.uniform(7.0, 10.0));
  setup.training.hidden = {};
  setup.training.optimiser = random.pick({Optimiser::sgd, Optimiser::adam});
  setup.training.rate = setup.training.optimiser == Optimiser::sgd ? 0.05 : 3e-3;
  setup.training.steps = 3000;
  setup.training.log_every = 94;
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(random, setup, columns,
                   sick("underfitting", {"model-too-small", "too-much-regularization"}, kNoProgress,
                        {"validation-better-than-training"}));
}

SimulatedRun too_much_decay(Random& random) {
  Setup setup = classification(random);
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = 0.05;
  setup.training.weight_decay = random.uniform(0.08, 0.3);
  setup.training.log_single_batches = false;
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(
      random, setup, columns,
      // Decay that shrinks the weights after a good start makes the loss climb again.
      sick("underfitting", {"too-much-regularization", "model-too-small"}, both(kNoProgress, {"loss-diverging"}),
           {"validation-better-than-training", "validation-frozen"}));
}

SimulatedRun random_labels(Random& random) {
  Setup setup = classification(random);
  setup.task.training = setup.task.training / 8 * 8;
  spoil_labels(setup.task, 1.0, random);
  setup.training.hidden = {16};
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = 0.02;
  setup.training.log_single_batches = false;
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  columns.gradient = true;
  return run_setup(random, setup, columns,
                   sick("loss-stuck-from-start", {"wrong-labels", "label-noise"}, kNoProgress,
                        {"validation-frozen", "overfitting", "validation-better-than-training"}));
}

SimulatedRun decayed_too_fast(Random& random) {
  Setup setup = classification(random);
  setup.training.optimiser = Optimiser::adam;
  setup.training.rate = 1e-3;
  setup.training.steps = 2500;
  setup.training.log_every = 20;
  setup.training.validate_every = 4;
  setup.training.log_single_batches = false;
  const double folds = random.uniform(80.0, 200.0);
  for (std::size_t row = 0; row < 125; ++row) {
    setup.training.factors.push_back(std::max(1e-6, std::exp(-folds * static_cast<double>(row) / 125.0)));
  }
  TrainedColumns columns = any_columns(random);
  columns.rate = true;
  return run_setup(random, setup, columns,
                   sick("learning-rate-spent", {"lr-decayed-too-fast"}, kNoProgress, {"validation-frozen"}));
}

SimulatedRun unshuffled(Random& random) {
  Setup setup;
  setup.task = blobs(random, static_cast<std::size_t>(random.integer(3, 5)), 8, 800, random.uniform(0.9, 1.3));
  sort_by_label(setup.task);
  setup.training.shuffle = false;
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = random.uniform(0.1, 0.3);
  setup.training.steps = 1000;
  setup.training.log_every = 2;
  setup.training.validate_every = 25;
  TrainedColumns columns = any_columns(random);
  return run_setup(random, setup, columns,
                   sick("epoch-sawtooth", {"no-shuffling"}, {"loss-oscillating", "loss-spikes", "late-loss-variance"},
                        both(kUnstable, both(kNoProgress, {"overfitting"}))));
}

/// Inputs in raw units, hundreds to thousands: the first losses are astronomic and training jumps about.
SimulatedRun raw_inputs(Random& random) {
  Setup setup = classification(random);
  const double unit = random.log_uniform(300.0, 5000.0);
  for (float& value : setup.task.inputs) value = static_cast<float>(value * unit);
  setup.training.optimiser = random.pick({Optimiser::sgd, Optimiser::momentum});
  setup.training.activation = Activation::relu;
  setup.training.rate = random.log_uniform(1e-3, 1e-2);
  setup.training.log_every = static_cast<std::size_t>(random.pick({2, 5, 20}));
  setup.training.validate_every = 20;
  const std::vector<TrainedRow> rows = train(setup.task, setup.training, random);
  return run_of(random, rows, setup.training, any_columns(random),
                sick(broken_finding(rows), {"data-not-normalized", "lr-too-high", "exploding-signal"},
                     both(kBrokenLoss, kNoProgress), both(kUnstable, {"validation-frozen", "overfitting"})));
}

/// A hand-written log(p): fine until a probability is zero in single precision.
SimulatedRun log_of_zero(Random& random) {
  Setup setup;
  setup.task = blobs(random, 3, 8, 1000, random.uniform(0.5, 0.8));
  spoil_labels(setup.task, 0.02, random);
  setup.training.hidden = {32};
  setup.training.naive_logarithm = true;
  setup.training.rate = random.log_uniform(2e-3, 1e-2);
  setup.training.steps = 1000;
  setup.training.log_every = 5;
  setup.training.validate_every = 5;
  for (float& value : setup.task.inputs) value *= 5.0F;
  std::vector<TrainedRow> rows;
  for (int attempt = 0; attempt < 12; ++attempt) {
    rows = train(setup.task, setup.training, random);
    if (!std::isfinite(rows.back().train_loss)) break;
    for (float& value : setup.task.inputs) value *= 1.25F;  // larger inputs, larger logits, until one is too large
  }
  Truth truth = sick(broken_finding(rows), {"log-of-zero", "exp-overflow", "division-by-zero"}, kBrokenLoss,
                     both(kUnstable, {"validation-frozen", "overfitting", "loss-plateau"}));
  if (!std::isfinite(rows.front().train_loss)) truth.causes.clear();  // not one number: nobody could tell
  return run_of(random, rows, setup.training, any_columns(random), std::move(truth));
}

SimulatedRun nothing_trained(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.train_weights = false;
  setup.training.log_single_batches = false;
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(random, setup, columns,
                   sick("loss-stuck-from-start", {"frozen-parameters", "disconnected-graph"},
                        both(kNoProgress, {"validation-frozen"}), {}));
}

/// Validation runs on the weights of the start, again and again.
SimulatedRun stale_validation(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.validate_first_weights = true;
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(random, setup, columns,
                   sick("validation-frozen", {"stale-checkpoint", "validation-pipeline-bug", "metric-bug"}, {},
                        {"loss-plateau", "overfitting", "metric-contradicts-loss", "loss-stuck-from-start",
                         "confidence-without-learning"}));
}

SimulatedRun rare_class(Random& random) {
  Setup setup;
  setup.task = blobs(random, 2, 4, 2000, 2.5);
  for (std::size_t i = 0; i < setup.task.labels.size(); ++i) {
    if (setup.task.labels[i] == 1 && random.chance(0.95)) {
      setup.task.labels[i] = 0;
    }
  }
  setup.training.hidden = {8};
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = random.log_uniform(0.003, 0.02);
  setup.training.steps = 2500;
  setup.training.log_every = 125;
  TrainedColumns columns;
  columns.gradient = random.chance(0.5);
  columns.rate = random.chance(0.5);
  return run_setup(random, setup, columns,
                   sick("validation-frozen", {"class-imbalance", "metric-bug", "validation-pipeline-bug"},
                        both(kNoProgress, {"confidence-without-learning"}), {"metric-contradicts-loss"}));
}

/// Gradients that are never cleared add up from step to step.
SimulatedRun uncleared_gradients(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.optimiser = Optimiser::sgd;
  setup.training.clear_gradients = false;
  setup.training.rate = random.log_uniform(0.003, 0.03);
  setup.training.log_every = 5;
  setup.training.validate_every = 10;
  TrainedColumns columns = any_columns(random);
  columns.gradient = true;
  columns.accuracy = columns.accuracy && setup.task.classifies();
  std::vector<TrainedRow> rows;
  for (int attempt = 0; attempt < 6; ++attempt) {  // at a small rate an easy task is learned all the same
    rows = train(setup.task, setup.training, random);
    if (got_nowhere(rows)) break;
    setup.training.rate *= 2.0;
  }
  return run_of(random, rows, setup.training, columns,
                sick(broken_finding(rows), {"missing-zero-grad", "lr-too-high"},
                     both(kBrokenLoss, {"gradient-norm-oscillating", "gradients-accumulating", "epoch-sawtooth"}),
                     both(kUnstable, both(kNoProgress, {"overfitting"}))));
}

}  // namespace

std::vector<Family> trained_sick() {
  return {{"trained-rate-too-high", false, rate_too_high},
          {"trained-rate-too-low", false, rate_too_low},
          {"trained-tiny-weights", false, tiny_weights},
          {"trained-huge-weights", false, huge_weights},
          {"trained-deep-sigmoid", false, deep_sigmoid},
          {"trained-dead-units", false, dead_units},
          {"trained-exploding-recurrence", false, exploding_recurrence},
          {"trained-few-examples", false, few_examples},
          {"trained-model-too-small", false, model_too_small},
          {"trained-too-much-decay", false, too_much_decay},
          {"trained-random-labels", false, random_labels},
          {"trained-decayed-too-fast", false, decayed_too_fast},
          {"trained-unshuffled", false, unshuffled},
          {"trained-raw-inputs", false, raw_inputs},
          {"trained-log-of-zero", false, log_of_zero},
          {"trained-nothing-trained", false, nothing_trained},
          {"trained-stale-validation", false, stale_validation},
          {"trained-rare-class", false, rare_class},
          {"trained-uncleared-gradients", false, uncleared_gradients}};
}

}  // namespace osler::simulate
