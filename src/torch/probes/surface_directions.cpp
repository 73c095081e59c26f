// Drawing and scaling directions.
#include "torch/probes/surface_directions.h"

#include <ATen/CPUGeneratorImpl.h>

namespace osler::torch {
namespace {

constexpr double kAgainstZero = 1e-30;

at::Tensor scaled(const at::Tensor& drawn, const at::Tensor& weights, DirectionScale scale) {
  if (scale == DirectionScale::tensor) return drawn * (weights.norm() / (drawn.norm() + kAgainstZero));
  if (weights.dim() < 2) return at::zeros_like(drawn);
  const at::Tensor rows = drawn.flatten(1);
  const at::Tensor norms = weights.flatten(1).norm(2, 1, /*keepdim=*/true);
  return (rows * (norms / (rows.norm(2, 1, true) + kAgainstZero))).view_as(drawn);
}

at::Tensor placed(const at::Tensor& host, const SurfaceLoss& surface) {
  return host.to(surface.parts().front().origin.options());
}

}  // namespace

DirectionSource::DirectionSource(std::uint64_t seed) : generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor DirectionSource::gaussian(const SurfaceLoss& surface) {
  return placed(at::randn({surface.size()}, generator_, at::TensorOptions(at::kDouble)), surface);
}

at::Tensor DirectionSource::signs(const SurfaceLoss& surface) {
  const at::Tensor bits = at::randint(0, 2, {surface.size()}, generator_, at::TensorOptions(at::kDouble));
  return placed(bits * 2 - 1, surface);
}

at::Tensor DirectionSource::direction(const SurfaceLoss& surface, DirectionScale scale) {
  const at::Tensor drawn = gaussian(surface);
  std::vector<at::Tensor> parts;
  for (const SurfaceLoss::Part& part : surface.parts()) {
    const at::Tensor piece = drawn.slice(0, part.begin, part.end).view_as(part.origin);
    parts.push_back(scaled(piece, part.origin, scale).reshape({-1}));
  }
  return at::cat(parts);
}

}  // namespace osler::torch
