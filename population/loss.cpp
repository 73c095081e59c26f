// Losses and metrics, the right ones and the mistaken ones.
#include "loss.h"

#include <cmath>
#include <limits>

namespace osler::population {
namespace {

at::Tensor as_labels(const Recipe& recipe, const at::Tensor& labels) {
  return recipe.task == Task::characters ? labels.flatten() : labels;
}

at::Tensor class_loss(const at::Tensor& logits, const at::Tensor& labels, double smoothing) {
  const at::Tensor logs = at::log_softmax(logits, 1);
  const at::Tensor own = -logs.gather(1, labels.unsqueeze(1)).mean();
  return smoothing == 0 ? own : own * (1 - smoothing) - logs.mean() * smoothing;
}

at::Tensor logistic_loss(const at::Tensor& logits, const at::Tensor& targets) {
  return (at::clamp_min(logits, 0) - logits * targets + at::log1p(at::exp(-logits.abs()))).mean();
}

at::Tensor hinge(const at::Tensor& scores, const at::Tensor& labels) {
  const at::Tensor own = scores.gather(1, labels.unsqueeze(1));
  const at::Tensor others = at::clamp_min(scores - own + 1, 0).scatter(1, labels.unsqueeze(1), 0.0);
  return others.sum(1).mean() / static_cast<double>(scores.size(1));
}

at::Tensor contrastive(const Recipe& recipe, const at::Tensor& outputs) {
  // Both views of a batch were sent through the network together: the first half and the second half.
  const long half = outputs.size(0) / 2;
  const at::Tensor unit = outputs / (outputs.norm(2, {1}, true) + 1e-6);
  const at::Tensor scores = at::matmul(unit.narrow(0, 0, half), unit.narrow(0, half, half).t()) / recipe.temperature;
  return class_loss(scores, at::arange(half, at::kLong), 0);
}

at::Tensor gaussian(const at::Tensor& outputs, const at::Tensor& targets) {
  const at::Tensor mean = outputs.narrow(1, 0, targets.size(1));
  const at::Tensor log_variance = outputs.narrow(1, targets.size(1), targets.size(1)).clamp(-8, 8);
  return (0.5 * log_variance + 0.5 * (targets - mean).pow(2) * at::exp(-log_variance)).mean();
}

at::Tensor naive(const Recipe& recipe, const at::Tensor& logits, const at::Tensor& labels) {
  at::Tensor shares;
  if (recipe.form == LossForm::naive_exp) {
    const at::Tensor powers = at::exp(logits);
    shares = powers / powers.sum(1, true) + 1e-12;
  } else {
    shares = at::softmax(logits, 1);
  }
  return -at::log(shares.gather(1, labels.unsqueeze(1))).mean();
}

at::Tensor mistaken(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  switch (recipe.form) {
    case LossForm::softmax_twice:
      return recipe.objective == Objective::binary ? logistic_loss(at::sigmoid(outputs), labels)
                                                   : class_loss(at::softmax(outputs, 1), labels, recipe.smoothing);
    case LossForm::sigmoid_first:
      return class_loss(at::sigmoid(outputs), labels, recipe.smoothing);
    case LossForm::ids_as_numbers:
      return (outputs.select(1, 0) - labels.to(at::kFloat)).pow(2).mean();
    case LossForm::labels_inverted:
      return logistic_loss(outputs, 1 - labels);
    case LossForm::naive_exp:
    case LossForm::naive_log:
      return naive(recipe, outputs, labels);
    case LossForm::divided_by_count: {
      // The mean over the positives of a batch: 0 / 0 where there are none.
      const at::Tensor each = at::clamp_min(outputs, 0) - outputs * labels + at::log1p(at::exp(-outputs.abs()));
      return 0.5 * ((each * labels).sum() / labels.sum() + (each * (1 - labels)).sum() / (1 - labels).sum());
    }
    case LossForm::root_of_norm: {
      // The root of the squared error of each sample; its slope at zero is infinite, and small errors are made zero.
      const at::Tensor error = (outputs - labels) * (outputs - labels).detach().abs().gt(0.01).to(at::kFloat);
      return at::sqrt(error.pow(2).sum(1)).mean();
    }
    case LossForm::right:
    case LossForm::negated:
      break;
  }
  return true_loss(recipe, outputs, labels);
}

double area_under_curve(const at::Tensor& outputs, const at::Tensor& labels) {
  const at::Tensor order = outputs.flatten().argsort();
  const at::Tensor sorted = labels.flatten().index_select(0, order).to(at::kDouble);
  const auto count = static_cast<double>(sorted.size(0));
  const double positives = sorted.sum().item<double>();
  if (positives == 0 || positives == count) return 0.5;
  const double ranks = (sorted * at::arange(1, sorted.size(0) + 1, at::kDouble)).sum().item<double>();
  return (ranks - positives * (positives + 1) / 2) / (positives * (count - positives));
}

double accuracy(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  if (recipe.objective == Objective::binary)
    return outputs.gt(0).eq(labels.gt(0.5)).to(at::kFloat).mean().item<double>();
  if (recipe.objective == Objective::contrastive) {
    const long half = outputs.size(0) / 2;
    const at::Tensor unit = outputs / (outputs.norm(2, {1}, true) + 1e-6);
    const at::Tensor scores = at::matmul(unit.narrow(0, 0, half), unit.narrow(0, half, half).t());
    return scores.argmax(1).eq(at::arange(half, at::kLong)).to(at::kFloat).mean().item<double>();
  }
  return outputs.argmax(1).eq(labels).to(at::kFloat).mean().item<double>();
}

}  // namespace

at::Tensor true_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  const at::Tensor truth = as_labels(recipe, labels);
  switch (recipe.objective) {
    case Objective::cross_entropy:
      return class_loss(outputs, truth, 0);
    case Objective::binary:
      return logistic_loss(outputs, truth);
    case Objective::hinge:
      return hinge(outputs, truth);
    case Objective::squared:
      return (outputs - truth).pow(2).mean();
    case Objective::absolute:
      return (outputs - truth).abs().mean();
    case Objective::huber: {
      const at::Tensor error = (outputs - truth).abs();
      return at::where(error.lt(1), 0.5 * error.pow(2), error - 0.5).mean();
    }
    case Objective::gaussian:
      return gaussian(outputs, truth);
    case Objective::contrastive:
      return contrastive(recipe, outputs);
  }
  return {};
}

at::Tensor trained_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  at::Tensor loss;
  if (recipe.form != LossForm::right && recipe.form != LossForm::negated) {
    loss = mistaken(recipe, outputs, as_labels(recipe, labels));
  } else if (recipe.smoothing > 0) {
    loss = class_loss(outputs, as_labels(recipe, labels), recipe.smoothing);
  } else {
    loss = true_loss(recipe, outputs, labels);
  }
  if (recipe.form == LossForm::negated) loss = -loss;
  return recipe.sum ? loss * static_cast<double>(labels.size(0)) : loss;
}

at::Tensor evaluated_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  Recipe plain = recipe;
  plain.smoothing = 0;
  return trained_loss(plain, outputs, labels);
}

double metric_of(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels) {
  at::NoGradGuard guard;
  at::Tensor truth = as_labels(recipe, labels);
  switch (recipe.metric) {
    case Metric::accuracy:
      return accuracy(recipe, outputs, truth);
    case Metric::auc:
      return area_under_curve(outputs, truth);
    case Metric::f1: {
      const at::Tensor said = outputs.gt(0);
      const at::Tensor so = truth.gt(0.5);
      const double both = said.logical_and(so).sum().item<double>();
      const double either = said.sum().item<double>() + so.sum().item<double>();
      return either == 0 ? 0 : 2 * both / either;
    }
    case Metric::r2: {
      const at::Tensor said = outputs.narrow(1, 0, truth.size(1));
      return 1 - ((said - truth).pow(2).mean() / truth.var(false).clamp_min(1e-12)).item<double>();
    }
    case Metric::perplexity:
      return std::exp(class_loss(outputs, truth, 0).item<double>());
    case Metric::none:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace osler::population
