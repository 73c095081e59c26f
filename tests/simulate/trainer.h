// A small trainer from scratch: dense networks and a recurrent one, with manual gradients in single precision.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/random.h"

namespace osler::simulate {

/// Examples with either a class or a number as target, and some of them held out.
struct Task {
  std::size_t features = 2;
  std::size_t outputs = 2;  ///< classes; 1 for regression
  std::vector<float> inputs;
  std::vector<int> labels;     ///< for classification
  std::vector<float> targets;  ///< for regression
  std::size_t training = 0;    ///< the first so many examples are for training, the rest for validation
  [[nodiscard]] std::size_t examples() const { return inputs.size() / features; }
  [[nodiscard]] bool classifies() const { return !labels.empty(); }
};

/// Gaussian clouds, one per class; `spread` relative to the distance of the centres.
[[nodiscard]] Task blobs(Random& random, std::size_t classes, std::size_t features, std::size_t training,
                         double spread);
/// Interleaved spiral arms in the plane, each winding by so many radians: not linearly separable.
[[nodiscard]] Task spirals(Random& random, std::size_t classes, std::size_t training, double winding);
/// A random smooth function with noise on its values.
[[nodiscard]] Task regression(Random& random, std::size_t features, std::size_t training, double noise);
/// Replaces a share of the training labels by random ones.
void spoil_labels(Task& task, double share, Random& random);
/// Sorts the training examples by class, as unshuffled files are.
void sort_by_label(Task& task);

enum class Activation { relu, tanh, sigmoid };
enum class Optimiser { sgd, momentum, adam };

/// What to train and how.
struct Training {
  std::vector<std::size_t> hidden = {32};
  Activation activation = Activation::relu;
  double init = 1;         ///< factor on the usual initialisation (He for ReLU, Xavier else)
  double hidden_bias = 0;  ///< of the hidden layers; far below zero, ReLUs are dead
  Optimiser optimiser = Optimiser::adam;
  double rate = 3e-3;
  std::vector<double> factors;  ///< the rate of each row as a factor; empty: constant
  std::size_t batch = 16;
  std::size_t steps = 1500;
  std::size_t log_every = 10;      ///< steps per row; a row holds the mean loss over them
  std::size_t validate_every = 1;  ///< rows per validation
  double clip = 0;                 ///< global norm; 0: none
  double weight_decay = 0;
  double dropout = 0;
  bool shuffle = true;
  bool log_single_batches = false;      ///< a row holds the loss of one batch, not a mean
  bool naive_logarithm = false;         ///< log(p) without any guard, as in hand-written losses
  bool clear_gradients = true;          ///< false: they add up from step to step
  bool train_weights = true;            ///< false: the optimiser was given nothing
  bool validate_first_weights = false;  ///< validation uses the weights of the start
};

/// One row of the log of a training.
struct TrainedRow {
  std::int64_t step = 0;
  double train_loss = 0;
  double train_accuracy = 0;
  double validation_loss = 0;  ///< meaningful where `validated`
  double validation_accuracy = 0;
  double gradient_norm = 0;  ///< before clipping
  double rate = 0;
  bool validated = false;
};

[[nodiscard]] std::vector<TrainedRow> train(const Task& task, const Training& training, Random& random);

/// A recurrent network that must recall the first input of a sequence; gradients travel through every step.
struct Recurrence {
  std::size_t length = 25;
  std::size_t hidden = 12;
  double init = 1;  ///< spectral scale of the recurrent matrix: above 1 the signal grows
  double rate = 0.05;
  double clip = 0;
  std::size_t steps = 600;
  std::size_t log_every = 4;
};
[[nodiscard]] std::vector<TrainedRow> train_recurrent(const Recurrence& training, Random& random);

}  // namespace osler::simulate
