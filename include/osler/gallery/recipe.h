// Recipe: everything about a small training that can be chosen, and so everything that can be got wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"

namespace osler::gallery {

enum class Task { digits, clouds, text, adding, regression, reconstruction };
enum class Model { mlp, cnn, resnet, lstm, gpt };
enum class Activation { relu, leaky_relu, gelu, tanh, sigmoid };
enum class Initialisation { he, xavier, normal, equal };
enum class Normalisation { none, batch, layer };
enum class Loss {
  standard,        ///< cross entropy from logits, or the mean squared error
  double_softmax,  ///< a softmax before a cross entropy that has its own
  naive_log,       ///< the logarithm of a softmax, taken in two steps
  ascent,          ///< the sign is wrong
};
enum class Optimizer { sgd, momentum, adam, adamw, rmsprop };
enum class Schedule { constant, cosine, step, exponential, one_cycle, inverse_sqrt };
enum class Precision { fp32, bf16, fp16 };
/// An operation that is sound on nearly every batch, and not on one.
enum class Trap { none, log_of_zero, division_by_zero, sqrt_at_zero, exp_overflow, bad_input, in_place };

/// A training. The defaults are a healthy one: a small network that learns handwritten digits.
struct Recipe {
  // What is learned, from what.
  Task task = Task::digits;
  std::int64_t samples = 2000;        ///< of the training set
  double label_noise = 0;             ///< share of labels, of both splits, that are drawn at random
  double imbalance = 0;               ///< share of the training set that is moved to the first class
  bool labels_match = true;           ///< off: labels of the training set are shuffled against their inputs
  bool standardise = true;            ///< off: inputs come in their raw units
  double bad_samples = 0;             ///< share of training inputs multiplied by 1000
  bool balanced_sampling = false;     ///< classes are drawn evenly
  bool check_batches = false;         ///< batches with values that are not finite or beyond 100 are left out
  bool shuffle = true;                ///< off: the training set is read sorted by class
  bool fresh_batches = true;          ///< off: the loader gives the same batch again and again
  double overlap = 0;                 ///< share of validation samples that are in the training set
  bool augment_validation = false;    ///< on: validation inputs are shifted at random
  std::int64_t sequence_length = 24;  ///< of the adding problem and of text

  // The network.
  Model model = Model::mlp;
  std::int64_t depth = 3;   ///< hidden layers, blocks
  std::int64_t width = 64;  ///< units, channels, embedding
  Activation activation = Activation::relu;
  Initialisation init = Initialisation::he;
  double init_gain = 1;  ///< multiplies the weights' standard deviation
  double init_std = 1;   ///< the standard deviation of Initialisation::normal, whatever the size of the layer
  double bias = 0;       ///< what hidden biases start from
  Normalisation normalization = Normalisation::none;
  bool residual = false;
  double dropout = 0;
  bool connected = true;      ///< off: the graph is cut behind the first hidden layer
  bool trainable = true;      ///< off: the first hidden layers are frozen
  bool all_optimized = true;  ///< off: the optimizer was not given the last layer
  double logit_scale = 1;     ///< multiplies the output

  // How it is trained.
  Loss loss = Loss::standard;
  double loss_weight = 1;  ///< multiplies the loss, as a sum in place of a mean does
  double label_smoothing = 0;
  Optimizer optimizer = Optimizer::adam;
  double lr = 1e-3;
  double weight_decay = 0;
  double momentum = 0.9;
  double sam = 0;  ///< the radius of sharpness-aware minimisation; 0: none
  std::int64_t batch_size = 64;
  Schedule schedule = Schedule::constant;
  double schedule_length = 1;  ///< the share of the run over which the schedule plays; then it rests at min_lr
  double min_lr = 0;
  std::int64_t warmup_steps = 0;
  std::optional<double> clip_norm;
  Precision precision = Precision::fp32;
  double loss_scale = 1;       ///< of fp16; 0: none
  bool zero_grad = true;       ///< off: gradients are never cleared
  bool train_mode = true;      ///< off: the network was left in evaluation mode
  bool skip_nonfinite = true;  ///< off: steps whose loss or gradient is not finite are taken all the same
  std::int64_t steps = 400;
  std::optional<std::int64_t> stop_step;  ///< end here, of all the steps that the schedule is laid out for
  std::optional<std::int64_t> resume_at;  ///< stop and resume here
  bool resume_schedule = true;            ///< off: the resumed training starts its schedule anew

  // How it is judged.
  bool eval_mode = true;         ///< off: validation runs in training mode
  bool no_grad = true;           ///< off: validation builds a graph
  bool fresh_validation = true;  ///< off: from the fourth validation on, the weights of that time are judged
  bool metric_right = true;      ///< off: the metric is computed against labels that are one place off

  // What goes wrong at one step.
  Trap trap = Trap::none;
  bool guarded_math = false;  ///< on: floors and the log-sum-exp trick where they belong, nothing written in place
  double trap_at = 0.5;       ///< when, as a share of the run

  // Around the computation.
  double slow_data_ms = 0;   ///< what the loader takes for each batch
  bool keep_graphs = false;  ///< on: every batch is kept, with its outputs and the graph of its loss

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// One thing of a recipe that can be set by name, as remedies and the playground do.
struct Knob {
  enum class Kind { choice, number, whole, flag };
  std::string_view name;  ///< "lr", as in Remedy::Change
  std::string_view doc;
  Kind kind = Kind::number;
  std::vector<std::string_view> choices;  ///< of a choice
  double least = 0;                       ///< of a number
  double most = 0;
  bool logarithmic = false;  ///< how a slider should move
  std::string (*get)(const Recipe& recipe) = nullptr;
  bool (*set)(Recipe& recipe, std::string_view value) = nullptr;  ///< false: not a value of this knob
};

/// All knobs, in the order of Recipe.
[[nodiscard]] std::span<const Knob> knobs();
[[nodiscard]] const Knob* find_knob(std::string_view name);

/// Sets a knob by name. The error names the knob and what it takes.
[[nodiscard]] Result<void> set(Recipe& recipe, std::string_view name, std::string_view value);
/// What two recipes differ in: name, before, after.
struct Difference {
  std::string name;
  std::string from;
  std::string to;

  friend bool operator==(const Difference&, const Difference&) = default;
};
[[nodiscard]] std::vector<Difference> differences(const Recipe& before, const Recipe& after);
/// Whether the parts fit together (a text needs a network for sequences); the error says what to change.
[[nodiscard]] Result<void> check(const Recipe& recipe);
/// Every knob with its value.
[[nodiscard]] std::map<std::string, std::string> settings(const Recipe& recipe);

}  // namespace osler::gallery
