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
        // Not all at once: batches can be larger than gradients.
        SurfaceLoss surface(counted, 1, /*evaluation_mode=*/false);
        const int room = std::max(3, probes::most_vectors(static_cast<std::size_t>(surface.size())));
        const int most = std::min(std::max(options.batches, options.most), room);
        std::vector<at::Tensor> gradients;
        for (int wanted = std::min(options.batches, most);; wanted = std::min(2 * wanted, most)) {
          while (static_cast<int>(gradients.size()) < wanted) {
            clock.check();
            if (!gradients.empty()) surface.redraw(1);
            gradients.push_back(surface.gradient_of(0).detach());
          }
          const at::Tensor all = at::stack(gradients).to(at::kDouble);
          const at::Tensor products = all.matmul(all.t()).cpu().contiguous();
          probes::write_noise_scale({products.data_ptr<double>(), static_cast<std::size_t>(products.numel())},
                                    samples / static_cast<double>(gradients.size()), options.factor, experiment);
          if (!probes::wants_more_gradients(experiment) || wanted == most) return;
        }
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
