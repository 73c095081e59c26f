// Cases of spikes, growing variance and saw teeth.
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

double fall(double x) {
  return 0.6 + 1.7 * std::exp(-4.0 * x);
}

/// The descent with a height added at some rows.
simulate::Levels with_spikes(const Table& table, const std::vector<std::size_t>& rows, double height) {
  simulate::Levels loss = simulate::rows_of(table.axis(), fall);
  for (const std::size_t row : rows) {
    loss[row] += height;
    if (row + 1 < loss.size()) loss[row + 1] += 0.4 * height;
  }
  return loss;
}

Table three_spikes(simulate::Random& random) {
  Table table(random, 300, 10);
  return table.put("train_loss", with_spikes(table, {80, 171, 240}, 4.0), 0.015).add("lr", 1e-3);
}

Table one_giant(simulate::Random& random) {
  Table table(random, 100);
  const simulate::Levels loss = with_spikes(table, {26}, 100.0);
  return table.put("train_loss", loss, 0.01).put("val_loss", loss, 0.02);
}

Table every_fifty(simulate::Random& random) {
  Table table(random, 300);
  return table.put("loss", with_spikes(table, {20, 70, 120, 170, 220, 270}, 2.0), 0.02);
}

Table plain_noise(simulate::Random& random) {
  Table table(random, 300, 10);
  return table.add("train_loss", fall, 0.08);
}

Table small_bump(simulate::Random& random) {
  Table table(random, 200);
  return table.put("train_loss", with_spikes(table, {90}, 0.2), 0.015);
}

Table variance(Table table, double late) {
  simulate::Levels loss = simulate::rows_of(table.axis(), fall);
  for (std::size_t row = 0; row < loss.size(); ++row) {
    const double wide = table.axis().progress(row) > 0.65 ? late : 0.02;
    loss[row] *= 1.0 + wide * table.random().normal();
  }
  table.put("loss", loss);
  return table;
}

Table tenfold(simulate::Random& random) {
  return variance(Table(random, 400, 5), 0.2).add("lr", 0.01);
}

Table eightfold_large(simulate::Random& random) {
  Table table(random, 250);
  simulate::Levels loss(250);
  for (std::size_t row = 0; row < loss.size(); ++row) {
    const double x = table.axis().progress(row);
    loss[row] = 4e3 * (1.0 + (x > 0.6 ? 0.12 : 0.015) * random.normal()) * (0.5 + std::exp(-6.0 * x));
  }
  return table.put("train_loss", loss);
}

Table even(simulate::Random& random) {
  return variance(Table(random, 400, 5), 0.02);
}

Table doubled(simulate::Random& random) {
  return variance(Table(random, 400, 5), 0.045);
}

Table saw(simulate::Random& random, double height, std::size_t epoch) {
  Table table(random, 300);
  simulate::Levels loss(300);
  simulate::Levels epochs(300);
  for (std::size_t row = 0; row < loss.size(); ++row) {
    const double within = static_cast<double>(row % epoch) / static_cast<double>(epoch);
    loss[row] = fall(table.axis().progress(row)) * (1.0 + height * (0.5 - within));
    epochs[row] = static_cast<double>(row / epoch);
  }
  return table.put("loss", loss, 0.015).put("epoch", epochs);
}

Table unshuffled(simulate::Random& random) {
  return saw(random, 0.35, 30);
}

Table unshuffled_short(simulate::Random& random) {
  return saw(random, 0.5, 50);
}

Table shuffled(simulate::Random& random) {
  return saw(random, 0.0, 30);
}

Table faint(simulate::Random& random) {
  return saw(random, 0.05, 30);
}

/// Losses of single batches that come in the same order in every epoch of 25 rows; nothing in the log tells of epochs.
Table fixed_order(simulate::Random& random, bool fixed) {
  constexpr std::size_t kEpoch = 25;
  Table table(random, 400, 4);
  simulate::Levels order(kEpoch);
  for (double& level : order) level = std::exp(0.5 * random.normal());
  simulate::Levels loss(400);
  for (std::size_t row = 0; row < loss.size(); ++row) {
    const double level = fixed ? order[row % kEpoch] : std::exp(0.5 * random.normal());
    loss[row] = fall(table.axis().progress(row)) * level;
  }
  return table.put("loss", loss, 0.05);
}

}  // namespace

Recipes spike_recipes() {
  const std::vector<std::string> kAlso = {"loss-plateau", "late-loss-variance", "loss-oscillating", "epoch-sawtooth"};
  return {
      between(sick("loss-spikes", "three", "Three leaps to several times the loss, each over in two rows.",
                   three_spikes, {"bad-batches", "no-clipping", "lr-too-high", "corrupt-data"}, kAlso),
              790, 810),
      between(sick("loss-spikes", "one-giant", "One epoch at a hundred times the loss.", one_giant, {}, kAlso), 25, 27),
      sick("loss-spikes", "periodic", "The same bad batch every fifty steps.", every_fifty,
           {"bad-batches", "corrupt-data"}, kAlso),
      healthy("loss-spikes", "plain-noise", "Noise of eight per cent and nothing else.", plain_noise, {"loss-plateau"}),
      borderline("loss-spikes", "small-bump", "One bump of a quarter of the loss.", small_bump,
                 {"loss-plateau", "late-loss-variance"}),

      between(sick("late-loss-variance", "tenfold", "The scatter grows tenfold in the last third.", tenfold,
                   {"lr-too-high", "sharp-minimum", "batch-too-small", "label-noise"},
                   {"loss-plateau", "loss-oscillating", "loss-spikes"}),
              1000, 1500),
      sick("late-loss-variance", "large-loss", "A loss in the thousands whose scatter grows eightfold.",
           eightfold_large, {}, {"loss-plateau", "loss-oscillating", "loss-spikes", "loss-stuck-after-drop"}),
      healthy("late-loss-variance", "even", "The same scatter from beginning to end.", even, {"loss-plateau"}),
      borderline("late-loss-variance", "doubled", "The scatter a little more than doubles.", doubled,
                 {"loss-plateau", "loss-oscillating"}),

      sick("epoch-sawtooth", "unshuffled", "Down within each of ten epochs, up again at the next.", unshuffled,
           {"no-shuffling"}, kAlso),
      sick("epoch-sawtooth", "six-epochs", "Six long teeth of half the loss.", unshuffled_short, {"no-shuffling"},
           {"loss-plateau", "late-loss-variance", "loss-oscillating", "loss-spikes"}),
      at_least(
          qualified(sick(
                        "epoch-sawtooth", "fixed-order",
                        "The same batches in the same order again and again, and no epochs in the log.",
                        [](simulate::Random& random) { return fixed_order(random, true); }, {"no-shuffling"}, kAlso),
                    "boundaries", "the loss itself"),
          Severity::note),
      healthy("epoch-sawtooth", "fresh-order", "Batches that differ as much, in a new order every time.",
              [](simulate::Random& random) { return fixed_order(random, false); }, {"loss-plateau"}),
      healthy("epoch-sawtooth", "shuffled", "No trace of the epoch in the loss.", shuffled, {"loss-plateau"}),
      borderline("epoch-sawtooth", "faint", "Teeth of five per cent.", faint, {"loss-plateau", "loss-oscillating"}),
  };
}

}  // namespace osler::cases
