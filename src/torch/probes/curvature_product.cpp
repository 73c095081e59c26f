// Two ways to a Hessian-vector product.
#include "torch/probes/curvature_product.h"

#include <algorithm>
#include <cmath>

#include "torch/probes/probe.h"

namespace osler::torch {
namespace {

/// The step of a central difference at which rounding and bending are in balance: the cube root of the resolution, in
/// units of the weights' size.
double reach_of(const at::Tensor& origin) {
  const double resolution = origin.scalar_type() == at::kDouble ? 2.2e-16 : 1.2e-7;
  return std::cbrt(resolution) * std::max(origin.norm().item<double>(), 1.0) / 10;
}

}  // namespace

HessianProduct::HessianProduct(SurfaceLoss& surface, bool differences)
    : surface_(surface), exact_(!differences), reach_(reach_of(surface.origin())) {
  if (exact_) {
    for (std::size_t i = 0; i < surface.batch_count(); ++i) graphs_.push_back(surface.gradient_of(i, true));
    try {
      static_cast<void>(exact_product(at::ones_like(graphs_.front())));
    } catch (const std::exception& error) {
      exact_ = false;
      why_not_ = first_line(error.what());
      graphs_.clear();
    }
  }
  for (const at::Tensor& graph : graphs_) gradients_.push_back(graph.detach());
  for (std::size_t i = gradients_.size(); i < surface.batch_count(); ++i) {
    gradients_.push_back(surface.gradient_of(i).detach());
  }
}

at::Tensor HessianProduct::gradient() const {
  return at::stack(gradients_).mean(0);
}

at::Tensor HessianProduct::operator()(const at::Tensor& direction) {
  return exact_ ? exact_product(direction) : difference_product(direction);
}

at::Tensor HessianProduct::exact_product(const at::Tensor& direction) const {
  at::Tensor sum = at::zeros_like(direction);
  for (const at::Tensor& gradient : graphs_) {
    // Where the loss is linear in the weights the gradient hangs on nothing, and the Hessian is zero.
    if (!gradient.requires_grad()) continue;
    const at::AutoGradMode with_graph(true);
    sum += surface_.derivative(gradient.dot(direction.detach()), false).detach();
  }
  return sum / static_cast<double>(graphs_.size());
}

at::Tensor HessianProduct::difference_product(const at::Tensor& direction) {
  const double length = direction.norm().item<double>();
  if (length == 0) return at::zeros_like(direction);
  const double share = reach_ / length;
  surface_.move(direction * share);
  const at::Tensor ahead = surface_.gradient();
  surface_.move(direction * -share);
  const at::Tensor behind = surface_.gradient();
  surface_.move_back();
  return (ahead - behind) / (2 * share);
}

}  // namespace osler::torch
