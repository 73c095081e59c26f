// The table of knobs, and what is done with it.
#include "osler/gallery/recipe.h"

#include <algorithm>
#include <array>

#include "gallery/knobs.h"

namespace osler::gallery {

template <>
std::span<const std::string_view> names_of<Task>() {
  static constexpr std::array<std::string_view, 6> kNames = {"digits", "clouds",     "text",
                                                             "adding", "regression", "reconstruction"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Model>() {
  static constexpr std::array<std::string_view, 5> kNames = {"mlp", "cnn", "resnet", "lstm", "gpt"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Activation>() {
  static constexpr std::array<std::string_view, 5> kNames = {"relu", "leaky-relu", "gelu", "tanh", "sigmoid"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Initialisation>() {
  static constexpr std::array<std::string_view, 4> kNames = {"he", "xavier", "normal", "equal"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Normalisation>() {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "batch", "layer"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Loss>() {
  static constexpr std::array<std::string_view, 4> kNames = {"standard", "double-softmax", "naive-log", "ascent"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Optimizer>() {
  static constexpr std::array<std::string_view, 5> kNames = {"sgd", "momentum", "adam", "adamw", "rmsprop"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Schedule>() {
  static constexpr std::array<std::string_view, 6> kNames = {"constant",    "cosine",    "step",
                                                             "exponential", "one-cycle", "inverse-sqrt"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Precision>() {
  static constexpr std::array<std::string_view, 3> kNames = {"fp32", "bf16", "fp16"};
  return kNames;
}
template <>
std::span<const std::string_view> names_of<Trap>() {
  static constexpr std::array<std::string_view, 7> kNames = {
      "none", "log-of-zero", "division-by-zero", "sqrt-at-zero", "exp-overflow", "bad-input", "in-place"};
  return kNames;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string written(double value) {
  std::array<char, 32> text{};
  const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() ? std::string(text.data(), end) : std::string();
}

bool is_none(std::string_view text) {
  return text == "none" || text == "off" || text.empty();
}

std::span<const Knob> knobs() {
  static const std::vector<Knob> table = {
      choice<&Recipe::task>("task", "what is learned"),
      number<&Recipe::samples>("samples", 8.0, 20000.0, "samples of the training set", true),
      number<&Recipe::label_noise>("label_noise", 0.0, 1.0,
                                   "share of labels, of both splits, that are drawn at random"),
      number<&Recipe::imbalance>("imbalance", 0.0, 0.99, "share of the training set moved to the first class"),
      flag<&Recipe::labels_match>("labels_match", "labels belong to their inputs"),
      flag<&Recipe::standardise>("input_normalization", "inputs have mean 0 and standard deviation 1"),
      number<&Recipe::bad_samples>("bad_samples", 0.0, 1.0,
                                   "share of training inputs that are a thousand times too large"),
      flag<&Recipe::balanced_sampling>("balanced_sampling", "classes are drawn evenly"),
      flag<&Recipe::check_batches>("check_batches",
                                   "batches with values that are not finite or beyond 100 are left out"),
      flag<&Recipe::shuffle>("shuffle", "training samples come in random order"),
      flag<&Recipe::fresh_batches>("fresh_batches", "every batch is a new one"),
      number<&Recipe::overlap>("overlap", 0.0, 1.0, "share of validation samples that are in the training set"),
      flag<&Recipe::augment_validation>("augment_validation", "validation inputs are shifted at random"),
      number<&Recipe::sequence_length>("sequence_length", 4.0, 200.0, "length of a sequence"),
      choice<&Recipe::model>("model", "the network"),
      number<&Recipe::depth>("depth", 1.0, 60.0, "hidden layers or blocks"),
      number<&Recipe::width>("width", 1.0, 512.0, "units, channels, size of the embedding", true),
      choice<&Recipe::activation>("activation", "between the layers"),
      choice<&Recipe::init>("init", "how weights start"),
      number<&Recipe::init_gain>("init_gain", 0.0, 1000.0, "multiplies the size of the first weights", true),
      number<&Recipe::init_std>("init_std", 0.0, 1000.0, "size of the first weights of init normal", true),
      number<&Recipe::bias>("bias", -100.0, 100.0, "what hidden biases start from"),
      choice<&Recipe::normalization>("normalization", "between the layers"),
      flag<&Recipe::residual>("residual", "a path around every hidden layer"),
      number<&Recipe::dropout>("dropout", 0.0, 0.99, "share of units left out"),
      flag<&Recipe::connected>("connected", "the loss reaches every layer"),
      flag<&Recipe::trainable>("trainable", "every layer may change"),
      flag<&Recipe::all_optimized>("all_optimized", "the optimizer has every parameter"),
      number<&Recipe::logit_scale>("logit_scale", 0.0, 10000.0, "multiplies the output", true),
      choice<&Recipe::loss>("loss", "what is minimised"),
      number<&Recipe::loss_weight>("loss_weight", 1e-9, 1e9, "multiplies the loss", true),
      number<&Recipe::label_smoothing>("label_smoothing", 0.0, 0.95, "share of the target spread over all classes"),
      choice<&Recipe::optimizer>("optimizer", "how weights are moved"),
      number<&Recipe::lr>("lr", 0.0, 1000.0, "learning rate", true),
      number<&Recipe::weight_decay>("weight_decay", 0.0, 100.0, "pull of the weights towards zero", true),
      number<&Recipe::momentum>("momentum", 0.0, 0.999, "of SGD with momentum"),
      number<&Recipe::sam>("sam", 0.0, 10.0, "radius of sharpness-aware minimisation; 0: none", true),
      number<&Recipe::batch_size>("batch_size", 1.0, 4096.0, "samples of a step", true),
      choice<&Recipe::schedule>("schedule", "how the learning rate moves"),
      number<&Recipe::schedule_length>("schedule_length", 0.01, 10.0, "share of the run over which the schedule plays"),
      number<&Recipe::min_lr>("min_lr", 0.0, 1.0, "where the schedule ends", true),
      number<&Recipe::warmup_steps>("warmup_steps", 0.0, 10000.0, "steps over which the rate rises from near zero"),
      number<&Recipe::clip_norm>("clip_norm", 0.0, 1e9, "the largest global gradient norm", true),
      choice<&Recipe::precision>("precision", "of weights and activations"),
      number<&Recipe::loss_scale>("loss_scale", 0.0, 1e9, "factor before the backward pass in fp16", true),
      flag<&Recipe::zero_grad>("zero_grad", "gradients are cleared before each step"),
      flag<&Recipe::train_mode>("train_mode", "the network is in training mode while it is trained"),
      flag<&Recipe::skip_nonfinite>("skip_nonfinite", "steps whose loss or gradient is not finite are left out"),
      number<&Recipe::steps>("steps", 10.0, 20000.0, "length of the run", true),
      number<&Recipe::stop_step>("stop_step", 1.0, 20000.0, "end here, before the schedule does"),
      number<&Recipe::resume_at>("resume_at", 1.0, 20000.0, "step at which the run is stopped and resumed"),
      flag<&Recipe::resume_schedule>("resume_schedule", "the schedule goes on after a resume"),
      flag<&Recipe::eval_mode>("eval_mode", "the network is in evaluation mode while it is validated"),
      flag<&Recipe::no_grad>("no_grad", "validation builds no graph"),
      flag<&Recipe::fresh_validation>("fresh_validation", "validation judges the newest weights"),
      flag<&Recipe::metric_right>("metric_right", "the metric compares what belongs together"),
      choice<&Recipe::trap>("trap", "an operation that fails on one batch"),
      flag<&Recipe::guarded_math>("guarded_math",
                                  "floors under logarithms, roots and denominators; nothing written in place"),
      number<&Recipe::trap_at>("trap_at", 0.0, 1.0, "when, as a share of the run"),
      number<&Recipe::slow_data_ms>("slow_data_ms", 0.0, 100.0, "milliseconds the loader takes for a batch"),
      flag<&Recipe::keep_graphs>("keep_graphs", "every batch is kept, with its outputs and graph"),
  };
  return table;
}

const Knob* find_knob(std::string_view name) {
  const auto all = knobs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Knob& knob) { return knob.name == name; });
  return found != all.end() ? &*found : nullptr;
}

namespace {

std::string what_it_takes(const Knob& knob) {
  if (!knob.choices.empty()) {
    std::string all;
    for (const std::string_view choice : knob.choices) all += (all.empty() ? "" : ", ") + std::string(choice);
    return "one of " + all;
  }
  return "a number from " + written(knob.least) + " to " + written(knob.most);
}

/// Choices and flags have no bounds, and a knob that may be off has none when it is.
bool within_bounds(const Knob& knob, std::string_view value) {
  if (!knob.choices.empty() || is_none(value)) return true;
  const auto number = parse_number(value);
  return number && *number >= knob.least && *number <= knob.most;
}

Error wrong(const std::string& message) {
  return Error{ErrorCode::invalid_argument, message, {}};
}

}  // namespace

Result<void> set(Recipe& recipe, std::string_view name, std::string_view value) {
  const Knob* knob = find_knob(name);
  if (knob == nullptr) return wrong("a recipe has no '" + std::string(name) + "'");
  if (within_bounds(*knob, value) && knob->set(recipe, value)) return {};
  return wrong(std::string(name) + " takes " + what_it_takes(*knob) + ", not '" + std::string(value) + "'");
}

std::vector<Difference> differences(const Recipe& before, const Recipe& after) {
  std::vector<Difference> found;
  for (const Knob& knob : knobs()) {
    std::string from = knob.get(before);
    std::string to = knob.get(after);
    if (from != to) found.push_back({std::string(knob.name), std::move(from), std::move(to)});
  }
  return found;
}

std::map<std::string, std::string> settings(const Recipe& recipe) {
  std::map<std::string, std::string> all;
  for (const Knob& knob : knobs()) all.emplace(knob.name, knob.get(recipe));
  return all;
}

Result<void> check(const Recipe& recipe) {
  const bool sequence = recipe.task == Task::text || recipe.task == Task::adding;
  const bool image = recipe.task == Task::digits;
  const bool recurrent = recipe.model == Model::lstm || recipe.model == Model::gpt;
  const bool convolution = recipe.model == Model::cnn || recipe.model == Model::resnet;
  if (convolution && !image) return wrong("model cnn and resnet need task digits");
  if (recipe.model == Model::gpt && recipe.task != Task::text) return wrong("model gpt needs task text");
  if (recipe.model == Model::lstm && !sequence) return wrong("model lstm needs task adding or text");
  if (sequence && !recurrent) return wrong("task text and task adding need model lstm or gpt");
  if (recipe.model == Model::gpt && recipe.width % 4 != 0)
    return wrong("model gpt needs a width that 4 divides (4 heads)");
  if (recipe.batch_size > recipe.samples) return wrong("batch_size is larger than samples");
  if (recipe.resume_at && *recipe.resume_at >= recipe.steps) return wrong("resume_at lies behind the end of the run");
  return {};
}

}  // namespace osler::gallery
