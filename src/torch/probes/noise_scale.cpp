// The gradient noise scale from several gradients at the same weights.
#include "osler/torch/noise_scale.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "probes/krylov.h"
#include "probes/noise_scale.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_loss.h"

namespace osler::torch {

Experiment gradient_noise_scale(const Training& training, const NoiseScaleOptions& options, const Limits& limits) {
  if (options.batches < 3) throw std::invalid_argument("gradient-noise-scale: at least 3 batches are needed.");
  return run_probe(
      "gradient-noise-scale", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
        Training counted = training;
        double samples = 0;
        counted.next_batch = [&] {
          Batch batch = training.next_batch();
          samples += batch.inputs.defined() && batch.inputs.dim() > 0 ? static_cast<double>(batch.inputs.size(0)) : 1;
          return batch;
        };
        SurfaceLoss surface(counted, options.batches, /*evaluation_mode=*/false);
        const int kept =
            std::min(options.batches, std::max(3, probes::most_vectors(static_cast<std::size_t>(surface.size()))));
        std::vector<at::Tensor> gradients;
        for (int i = 0; i < kept; ++i) {
          clock.check();
          gradients.push_back(surface.gradient_of(static_cast<std::size_t>(i)).detach());
        }
        const at::Tensor all = at::stack(gradients).to(at::kDouble);
        const at::Tensor products = all.matmul(all.t()).cpu().contiguous();
        probes::write_noise_scale({products.data_ptr<double>(), static_cast<std::size_t>(products.numel())},
                                  samples / options.batches, options.factor, experiment);
      });
}

double scaled_learning_rate(double learning_rate, double batch, double new_batch, BatchScaling scaling) {
  if (!(batch > 0) || !(new_batch > 0)) {
    throw std::invalid_argument("scaled_learning_rate: batch sizes must be above zero.");
  }
  const double factor = new_batch / batch;
  return learning_rate * (scaling == BatchScaling::linear ? factor : std::sqrt(factor));
}

}  // namespace osler::torch
