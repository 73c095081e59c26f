// The training loop, with the places at which a fault can be planted.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "data.h"
#include "history.h"
#include "loss.h"
#include "network.h"
#include "optimizer.h"

namespace osler::population {
namespace {

at::Tensor network_input(const Recipe& recipe, const Samples& batch) {
  return recipe.objective == Objective::contrastive ? at::cat({batch.inputs, batch.labels}) : batch.inputs;
}

Samples rows_of(const Samples& samples, const at::Tensor& rows) {
  return {samples.inputs.index_select(0, rows), samples.labels.index_select(0, rows)};
}

/// How an evaluation is done.
struct Manner {
  bool training_mode = false;
  bool truthful = false;  ///< With the true loss, whatever the log shows.
  bool shifted = false;   ///< The metric compares with the labels of other samples.
};

Result evaluate(const Recipe& recipe, Network& network, const Samples& samples, Manner manner) {
  at::NoGradGuard guard;
  const long count = samples.inputs.size(0);
  long chunk = count;
  if (recipe.objective == Objective::contrastive) chunk = std::min(count, 50L);
  if (manner.training_mode) chunk = std::min(count, std::max(2L, recipe.batch));
  Result mean{0, 0};
  long chunks = 0;
  for (long from = 0; from + chunk <= count; from += chunk) {
    const Samples part{samples.inputs.narrow(0, from, chunk), samples.labels.narrow(0, from, chunk)};
    const at::Tensor outputs = network.forward(network_input(recipe, part), manner.training_mode);
    const at::Tensor loss =
        manner.truthful ? true_loss(recipe, outputs, part.labels) : evaluated_loss(recipe, outputs, part.labels);
    // Where the loss is a sum, the log's validation is the mean of the sums of batches.
    const double size = static_cast<double>(recipe.batch) / static_cast<double>(chunk);
    mean.loss += loss.item<double>() * (recipe.sum && !manner.truthful ? size : 1.0);
    mean.metric += metric_of(recipe, outputs, manner.shifted ? part.labels.roll(1, 0) : part.labels);
    ++chunks;
  }
  return {mean.loss / static_cast<double>(chunks), mean.metric / static_cast<double>(chunks)};
}

/// One training under way.
class TrainingRun {
 public:
  TrainingRun(const Recipe& recipe, bool layers)
      : recipe_(recipe),
        data_(make_data(recipe)),
        network_(recipe),
        optimizer_(recipe_, network_.parameters()),
        layers_(layers) {
    for (const Parameter& parameter : network_.parameters()) {
      if (static_cast<std::size_t>(parameter.layer) < history_.layers.size()) continue;
      history_.layers.push_back(parameter.name.substr(0, parameter.name.find('.')));
    }
  }

  History run() {
    at::manual_seed(recipe_.seed * 3 + 3);
    history_.untrained = judged();
    history_.best = history_.untrained;
    const long every = std::max(1L, recipe_.horizon / recipe_.evaluations);
    for (long step = 0; step < recipe_.steps; ++step) {
      if (recipe_.resumed > 0 && step == recipe_.resumed && recipe_.schedule_lost) optimizer_.forget();
      take(step);
      if ((step + 1) % every == 0 && look(step + 1)) break;
    }
    if (history_.looks.empty() || history_.looks.back().step != static_cast<long>(history_.steps.size())) {
      look(static_cast<long>(history_.steps.size()));
    }
    history_.final = judged();
    history_.finite = std::isfinite(history_.final.loss);
    return std::move(history_);
  }

 private:
  Result judged() { return evaluate(recipe_, network_, data_.clean, {.truthful = true}); }

  Samples batch(long step) {
    const long count = data_.training.inputs.size(0);
    const long size = std::min(recipe_.batch, count);
    const long per_epoch = std::max(1L, count / size);
    const long place = step % per_epoch;
    if (recipe_.order == Order::one_batch) {
      return {data_.training.inputs.narrow(0, 0, size), data_.training.labels.narrow(0, 0, size)};
    }
    if (place == 0)
      order_ = recipe_.order == Order::sorted ? at::arange(count, at::kLong) : at::randperm(count, at::kLong);
    return rows_of(data_.training, order_.narrow(0, place * size, size));
  }

  void spoil(Samples& batch, long step) const {
    if (recipe_.augment > 0 && batch.inputs.is_floating_point()) {
      batch.inputs = batch.inputs + at::randn_like(batch.inputs) * (recipe_.augment * recipe_.input_scale);
    }
    if (recipe_.bad_every == 0 || step < recipe_.bad_from || (step - recipe_.bad_from) % recipe_.bad_every != 0) return;
    if (recipe_.bad_labels) batch.labels = batch.labels.index_select(0, at::randperm(batch.labels.size(0), at::kLong));
    if (!batch.inputs.is_floating_point()) return;
    batch.inputs = batch.inputs * recipe_.bad_scale;
    if (recipe_.bad_is_nan) batch.inputs.select(0, 0).fill_(kNothing);
  }

  void take(long step) {
    Step told;
    told.rate = rate_at(recipe_, step);
    if (history_.nonfinite_from >= 0 && ruined_) {
      history_.steps.push_back(told);
      return;
    }
    Samples current = batch(step);
    spoil(current, step);
    const at::Tensor outputs = network_.forward(network_input(recipe_, current), !recipe_.eval_in_training);
    const at::Tensor loss = trained_loss(recipe_, outputs, current.labels);
    told.loss = loss.item<double>();
    told.metric = metric_of(recipe_, outputs, recipe_.metric_shifted ? current.labels.roll(1, 0) : current.labels);
    if (!recipe_.keep_gradients) optimizer_.clear();
    loss.backward();
    if (recipe_.half_precision) optimizer_.halve_gradients(recipe_.loss_scale);
    told.gradient_norm = optimizer_.gradient_norm();
    if (layers_) measure_layers(told);
    if (recipe_.clip > 0 && told.gradient_norm > recipe_.clip)
      optimizer_.scale_gradients(recipe_.clip / told.gradient_norm);
    optimizer_.step(told.rate);
    if (!std::isfinite(told.loss) || !std::isfinite(told.gradient_norm)) note_nonfinite(step);
    history_.steps.push_back(std::move(told));
  }

  void measure_layers(Step& told) {
    at::NoGradGuard guard;
    told.layer_gradients.assign(history_.layers.size(), 0);
    told.layer_weights.assign(history_.layers.size(), 0);
    for (const Parameter& parameter : network_.parameters()) {
      const auto layer = static_cast<std::size_t>(parameter.layer);
      if (parameter.value.grad().defined())
        told.layer_gradients[layer] += parameter.value.grad().pow(2).sum().item<float>();
      told.layer_weights[layer] += parameter.value.pow(2).sum().item<float>();
    }
    for (float& norm : told.layer_gradients) norm = std::sqrt(norm);
    for (float& norm : told.layer_weights) norm = std::sqrt(norm);
  }

  /// Once the weights are not finite, nothing that follows will be: the rest needs no arithmetic.
  void note_nonfinite(long step) {
    if (history_.nonfinite_from < 0) history_.nonfinite_from = step;
    at::NoGradGuard guard;
    for (const Parameter& parameter : network_.parameters()) {
      if (!std::isfinite(parameter.value.sum().item<double>())) ruined_ = true;
    }
  }

  /// Validates; true when the run is to stop.
  bool look(long step) {
    if (recipe_.validation == Validation::stale && !stale_ && step >= recipe_.stale_from) stale_ = network_.state();
    Manner manner;
    manner.training_mode = recipe_.validation == Validation::train_mode;
    manner.shifted = recipe_.metric_shifted;
    const std::vector<at::Tensor> present = stale_ ? network_.state() : std::vector<at::Tensor>();
    if (stale_) network_.restore(*stale_);
    const Result logged = evaluate(recipe_, network_, data_.validation, manner);
    if (stale_) network_.restore(present);
    history_.looks.push_back({step, logged.loss, logged.metric});
    history_.logged_final = recipe_.sum ? logged.loss / static_cast<double>(recipe_.batch) : logged.loss;
    history_.logged_metric = logged.metric;
    const bool plain = recipe_.validation == Validation::right && recipe_.form == LossForm::right &&
                       recipe_.majority == 0 && !recipe_.metric_shifted && !recipe_.sum;
    const Result now = plain ? logged : judged();
    if (now.loss < history_.best.loss) history_.best = now;
    if (recipe_.patience == 0) return false;
    if (!(logged.loss < lowest_)) return ++waited_ >= recipe_.patience;
    lowest_ = logged.loss;
    waited_ = 0;
    return false;
  }

  Recipe recipe_;
  Data data_;
  Network network_;
  Optimizer optimizer_;
  bool layers_;
  History history_;
  at::Tensor order_;
  std::optional<std::vector<at::Tensor>> stale_;
  bool ruined_ = false;
  double lowest_ = std::numeric_limits<double>::infinity();
  long waited_ = 0;
};

}  // namespace

History train(const Recipe& recipe, bool layers) {
  return TrainingRun(recipe, layers).run();
}

}  // namespace osler::population
