// The monitor never changes training: weights are bit-identical with and without it, on all four examples.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cnn/cnn.h"
#include "gpt/gpt.h"
#include "lstm/lstm.h"
#include "mlp/mlp.h"
#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

constexpr int kSteps = 200;
constexpr int kBroken = 120;  // the loss of this step is NaN

enum class Watched { no, plain_steps, whole_steps };

/// Trains with the same seed and gives back all weights. The step `kBroken` has a NaN and is left out either way.
template <typename Model, typename Batch, typename Loss>
at::Tensor trained(Watched watched, Batch batch, Loss loss_of) {
  ::torch::manual_seed(7);
  Model model;
  ::torch::optim::Adam optimizer(model.parameters(), 1e-3);
  std::optional<Monitor> monitor;
  if (watched != Watched::no) {
    MonitorOptions options;
    options.statistics_every = 7;
    options.trace_every = 5;
    options.diagnose_every = 50;
    options.on_line = [](const std::string&) {};
    monitor.emplace(model, optimizer, std::move(options));
  }
  for (int step = 0; step < kSteps; ++step) {
    const auto [x, y] = batch();
    const auto compute = [&, &x = x, &y = y] {
      const at::Tensor loss = loss_of(model, x, y);
      return step == kBroken ? at::log(loss * 0 - at::rand({})) : loss;
    };
    if (watched == Watched::whole_steps) {
      EXPECT_EQ(monitor->train_step(compute), step != kBroken);
      continue;
    }
    optimizer.zero_grad();
    const at::Tensor loss = compute();
    loss.backward();
    const bool go = watched == Watched::no ? step != kBroken : monitor->step(loss);
    EXPECT_EQ(go, step != kBroken);
    if (go) optimizer.step();
  }
  return ::torch::nn::utils::parameters_to_vector(model.parameters());
}

template <typename Model, typename Batch, typename Loss>
void expect_unchanged(Batch batch, Loss loss) {
  const at::Tensor alone = trained<Model>(Watched::no, batch, loss);
  EXPECT_TRUE(at::isfinite(alone).all().template item<bool>());
  EXPECT_TRUE(at::equal(alone, trained<Model>(Watched::plain_steps, batch, loss)));
  EXPECT_TRUE(at::equal(alone, trained<Model>(Watched::whole_steps, batch, loss)));
}

TEST(UnchangedTraining, Mlp) {
  expect_unchanged<examples::Mlp>([] { return examples::clouds(32); },
                                  [](auto& model, const at::Tensor& x, const at::Tensor& y) {
                                    return at::cross_entropy_loss(model.forward(x), y);
                                  });
}

TEST(UnchangedTraining, Cnn) {
  expect_unchanged<examples::Cnn>([] { return examples::stripes(8); },
                                  [](auto& model, const at::Tensor& x, const at::Tensor& y) {
                                    return at::cross_entropy_loss(model.forward(x), y);
                                  });
}

TEST(UnchangedTraining, Lstm) {
  expect_unchanged<examples::Lstm>(
      [] { return examples::sums(8, 12); },
      [](auto& model, const at::Tensor& x, const at::Tensor& y) { return at::mse_loss(model.forward(x), y); });
}

TEST(UnchangedTraining, Gpt) {
  expect_unchanged<examples::Gpt>([] { return examples::pieces(2); },
                                  [](auto& model, const at::Tensor& x, const at::Tensor& y) {
                                    return examples::next_character_loss(model.forward(x), y);
                                  });
}

}  // namespace
}  // namespace osler::torch
