// SGD, momentum, Adam, AdamW, RMSprop and Lion.
#include "optimizer.h"

#include <cmath>

namespace osler::population {

Optimizer::Optimizer(const Recipe& recipe, std::vector<Parameter>& parameters)
    : recipe_(recipe), parameters_(parameters) {
  forget();
}

void Optimizer::forget() {
  first_.clear();
  second_.clear();
  taken_ = 0;
  for (const Parameter& parameter : parameters_) {
    first_.push_back(at::zeros_like(parameter.value));
    second_.push_back(at::zeros_like(parameter.value));
  }
}

void Optimizer::clear() {
  for (Parameter& parameter : parameters_) parameter.value.mutable_grad() = at::Tensor();
}

double Optimizer::gradient_norm() const {
  double sum = 0;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.value.grad().defined()) continue;
    const double norm = parameter.value.grad().norm().item<double>();
    sum += norm * norm;
  }
  return std::sqrt(sum);
}

void Optimizer::scale_gradients(double factor) {
  for (Parameter& parameter : parameters_) {
    if (parameter.value.grad().defined()) parameter.value.mutable_grad().mul_(factor);
  }
}

void Optimizer::halve_gradients(double scale) {
  for (Parameter& parameter : parameters_) {
    if (!parameter.value.grad().defined()) continue;
    parameter.value.mutable_grad() = (parameter.value.grad() * scale).to(at::kHalf).to(at::kFloat) / scale;
  }
}

void Optimizer::step(double rate) {
  at::NoGradGuard guard;
  ++taken_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    if (parameter.layer >= recipe_.frozen_from && parameter.layer < recipe_.frozen_to) continue;
    if (!parameter.value.grad().defined()) continue;
    update(i, parameter.value.grad(), rate);
    if (recipe_.coarse_weights) parameter.value.copy_(parameter.value.to(at::kBFloat16));
  }
}

void Optimizer::update(std::size_t index, const at::Tensor& gradient, double rate) {
  at::Tensor& value = parameters_[index].value;
  at::Tensor& first = first_[index];
  at::Tensor& second = second_[index];
  const bool decoupled = recipe_.rule == Rule::adamw || recipe_.rule == Rule::lion;
  const bool decays = recipe_.weight_decay > 0 && value.dim() > 1;
  const at::Tensor slope = decays && !decoupled ? gradient + value * recipe_.weight_decay : gradient;
  if (decays && decoupled) value.mul_(1 - rate * recipe_.weight_decay);
  const auto taken = static_cast<double>(taken_);
  switch (recipe_.rule) {
    case Rule::sgd:
      value.sub_(slope * rate);
      break;
    case Rule::momentum:
      first.mul_(0.9).add_(slope);
      value.sub_(first * rate);
      break;
    case Rule::adam:
    case Rule::adamw:
      first.mul_(0.9).add_(slope, 0.1);
      second.mul_(0.999).addcmul_(slope, slope, 0.001);
      value.addcdiv_(first, (second / (1 - std::pow(0.999, taken))).sqrt_().add_(1e-8),
                     -rate / (1 - std::pow(0.9, taken)));
      break;
    case Rule::rmsprop:
      second.mul_(0.99).addcmul_(slope, slope, 0.01);
      value.addcdiv_(slope, second.sqrt().add_(1e-8), -rate);
      break;
    case Rule::lion:
      value.sub_((first * 0.9 + slope * 0.1).sign_(), rate);
      first.mul_(0.99).add_(slope, 0.01);
      break;
  }
}

}  // namespace osler::population
