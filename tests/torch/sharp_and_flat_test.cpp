// Minima that large and small batches find: the large ones' are sharper (Keskar et al. 2017, Cohen et al. 2021).
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "mlp/mlp.h"
#include "osler/torch/curvature.h"
#include "osler/torch/sharpness.h"

namespace osler::torch {
namespace {

struct Place {
  double loss = 0;
  double top = 0;
  double stability = 0;
  double ratio = 0;
};

/// Trains the same net on the same 512 points with batches of `size`, and measures where it ends on all of them.
Place trained(std::int64_t size, int epochs) {
  at::set_num_threads(1);
  ::torch::manual_seed(21);
  const auto [inputs, labels] = examples::clouds(512);
  ::torch::nn::Sequential net(::torch::nn::Linear(32, 32), ::torch::nn::Tanh(), ::torch::nn::Linear(32, 10));
  ::torch::optim::SGD optimizer(net->parameters(), ::torch::optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const at::Tensor order = at::randperm(512, at::kLong);
    for (std::int64_t at = 0; at < 512; at += size) {
      const at::Tensor rows = order.slice(0, at, at + size);
      optimizer.zero_grad();
      const at::Tensor wanted = at::one_hot(labels.index_select(0, rows), 10).to(at::kFloat);
      at::mse_loss(net->forward(inputs.index_select(0, rows)), wanted).mul(10).backward();
      optimizer.step();
    }
  }
  const at::Tensor points = inputs;
  const at::Tensor wanted = at::one_hot(labels, 10).to(at::kFloat);
  const Training training{*net,
                          optimizer,
                          [&](const at::Tensor& x) { return net->forward(x); },
                          [](const at::Tensor& y, const at::Tensor& t) { return at::mse_loss(y, t).mul(10); },
                          [&] {
                            return Batch{points, wanted};
                          },
                          {},
                          {}};
  CurvatureOptions options;
  options.batches = 1;
  options.trace_samples = 0;
  options.products_per_layer = 0;
  const Experiment bend = curvature(training, options);
  SharpnessOptions prods;
  prods.batches = 1;
  prods.ascents = 0;
  const Experiment sharp = sharpness(training, prods);
  return {*bend.value("loss"), *bend.value("top-eigenvalue"), *bend.value("stability-ratio"), *sharp.value("ratio")};
}

TEST(SharpAndFlat, LargeBatchesEndInSharperMinimaThanSmallOnes) {
  const Place large = trained(512, 5000);
  const Place small = trained(8, 100);
  RecordProperty("large-batch-top-eigenvalue", std::to_string(large.top));
  RecordProperty("small-batch-top-eigenvalue", std::to_string(small.top));
  EXPECT_GT(large.top, 1.3 * small.top) << "losses " << large.loss << " and " << small.loss;
  // All of the data in each batch: training goes to the edge of stability and stays there.
  EXPECT_NEAR(large.stability, 1, 0.25);
  EXPECT_LT(small.stability, 0.8);
  std::printf("batch 512: loss %.4g, top eigenvalue %.4g (%.2f of the limit), 5 %% perturbation %+.3g\n", large.loss,
              large.top, large.stability, large.ratio);
  std::printf("batch 8:   loss %.4g, top eigenvalue %.4g (%.2f of the limit), 5 %% perturbation %+.3g\n", small.loss,
              small.top, small.stability, small.ratio);
}

}  // namespace
}  // namespace osler::torch
