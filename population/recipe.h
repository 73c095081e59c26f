// A recipe: everything that decides how one training goes, faults included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace osler::population {

/// What is to be learned.
enum class Task {
  mixture,
  teacher,
  spiral,
  images,
  binary,
  tags,
  margin,
  regression,
  autoencoder,
  contrastive,
  characters,
  sequences
};
/// What learns it.
enum class Model { perceptron, residual, convolutional, recurrent, lstm, transformer };
/// What is minimised, before any fault.
enum class Objective { cross_entropy, binary, hinge, squared, absolute, huber, gaussian, contrastive };
/// How the loss is computed; all but the first are faults.
enum class LossForm {
  right,
  softmax_twice,
  sigmoid_first,
  ids_as_numbers,
  negated,
  labels_inverted,
  naive_exp,
  naive_log,
  divided_by_count,
  root_of_norm,
};
/// The non-linearity between layers.
enum class Activation { relu, gelu, tanh, sigmoid };
/// What keeps activations in scale.
enum class Norm { none, batch, layer };
/// How weights are drawn.
enum class Start { usual, zero, equal };
/// The rule of the update.
enum class Rule { sgd, momentum, adam, adamw, rmsprop, lion };
/// How the rate changes over the run.
enum class Schedule { constant, steps, cosine, linear, warmup_cosine, one_cycle, exponential, restarts };
/// In which order samples come.
enum class Order { shuffled, sorted, one_batch };
/// What the logged metric counts; `none` where a task has no metric.
enum class Metric { none, accuracy, auc, f1, r2, perplexity };
/// On what the logged validation is computed.
enum class Validation { right, leaked, other_scale, permuted_labels, train_mode, stale };

/// The settings of one training. Defaults are those of a healthy run; faults change them.
struct Recipe {
  std::uint64_t seed = 1;
  Task task = Task::mixture;
  Model model = Model::perceptron;
  Objective objective = Objective::cross_entropy;
  Metric metric = Metric::accuracy;

  long inputs = 8;                 ///< Features, pixels, or symbols of the alphabet.
  long outputs = 2;                ///< Classes, labels, or targets.
  long samples = 1000;             ///< In the training set.
  long held_out = 512;             ///< In the validation set.
  long length = 1;                 ///< Of a sequence.
  double spread = 1;               ///< Noise in the inputs, relative to what tells classes apart.
  double label_noise = 0;          ///< Share of training labels that are drawn anew.
  double augment = 0;              ///< Noise that is added to each batch.
  double positives = 0.5;          ///< Share of the positive class of binary tasks.
  double majority = 0;             ///< Share of training samples forced into one class.
  bool skewed_validation = false;  ///< The logged validation has that share as well.

  long width = 32;
  long depth = 2;
  Activation activation = Activation::relu;
  Norm norm = Norm::none;
  bool residual = false;
  bool norm_first = true;  ///< Of a transformer's blocks.
  double dropout = 0;
  Start start = Start::usual;
  double gain = 1;          ///< On the usual size of weights.
  double bias = 0;          ///< Start of the hidden biases.
  double output_scale = 1;  ///< Multiplies the outputs, as an inverse temperature.

  LossForm form = LossForm::right;
  double smoothing = 0;
  bool sum = false;          ///< The loss of a batch is the sum over its samples.
  double temperature = 0.2;  ///< Of the contrastive loss.

  Rule rule = Rule::adam;
  double rate = 1e-3;
  double weight_decay = 0;
  Schedule schedule = Schedule::constant;
  double warmup = 0.05;  ///< Share of the horizon.
  long batch = 32;
  long steps = 500;       ///< Taken at most.
  long horizon = 500;     ///< What the schedule was made for.
  double clip = 0;        ///< Largest gradient norm; 0 for none.
  long patience = 0;      ///< Evaluations without a gain until the run stops; 0 for never.
  long evaluations = 20;  ///< Over the horizon.
  long resumed = 0;       ///< Step at which the run was resumed; 0 for never.

  bool keep_gradients = false;  ///< Nobody clears them.
  long detached = 0;            ///< The graph is cut behind this many layers.
  long frozen_from = -1;        ///< Layers in [from, to) are not given to the optimizer.
  long frozen_to = -1;
  bool eval_in_training = false;
  bool statistics_lost = false;  ///< BatchNorm's running statistics are never updated.
  bool half_precision = false;   ///< Gradients pass through half precision.
  double loss_scale = 1024;
  bool coarse_weights = false;  ///< Weights are kept in bfloat16.
  Order order = Order::shuffled;
  double input_scale = 1;
  double input_shift = 0;
  long bad_every = 0;  ///< Every so many batches one is damaged, from bad_from on.
  long bad_from = 0;
  bool bad_is_nan = false;
  double bad_scale = 1;
  bool bad_labels = false;
  Validation validation = Validation::right;
  double validation_scale = 1;  ///< What the validation inputs are multiplied by where their scale is another.
  long stale_from = 0;
  bool metric_shifted = false;  ///< The metric compares with the labels of other samples.
  bool schedule_lost = false;   ///< The schedule starts over when the run is resumed.
  double schedule_pace = 1;     ///< The schedule runs so many times too fast.
  long rate_zero_from = 0;
  long labels_from_id = 0;  ///< Training labels are moved on by so many classes.
};

/// The words for each value, as the meta data has them.
std::string_view word(Task task);
std::string_view word(Model model);
std::string_view word(Rule rule);
std::string_view word(Schedule schedule);
std::string_view word(Metric metric);
std::string_view word(Objective objective);
std::string_view word(Norm norm);
std::string_view word(Activation activation);

/// Task and model, as in "images-convolutional": what the split goes by.
std::string family(const Recipe& recipe);
/// Whether runs of a family are there to learn from; the others are left out to judge.
bool is_for_learning(std::string_view family);
/// The chance level of the loss in nats, or 0 where there is none.
double chance_loss(const Recipe& recipe);
/// The rate at a step.
double rate_at(const Recipe& recipe, long step);
/// Seconds that one step takes on one thread, roughly.
double step_seconds(const Recipe& recipe);
/// Batches of one pass over the samples.
long epoch_steps(const Recipe& recipe);
/// Whether the loss counts classes, so that labels are ids.
bool has_classes(const Recipe& recipe);

/// Draws a healthy training.
class Random;
Recipe draw_recipe(std::uint64_t seed, Random& random);

}  // namespace osler::population
