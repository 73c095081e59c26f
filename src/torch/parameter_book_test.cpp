// What the book tells of updates and of consecutive gradients is what LibTorch's own arithmetic says of them.
#include "torch/parameter_book.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/test_seed.h"

namespace osler::torch {
namespace {

double norm_of(const at::Tensor& tensor) {
  return tensor.to(at::kDouble).norm().item<double>();
}

double newest(Recorder& recorder, const std::string& series) {
  double value = -1;
  recorder.visit([&](const Run& run) {
    if (const Series* found = run.find(series)) value = found->summary().recent().back().value;
  });
  return value;
}

TEST(ParameterBook, TellsUpdatesOfSmallTensorsExactlyAndOfLargeOnesNearly) {
  const TestSeed seed(3);
  const at::NoGradGuard no_graph;
  ::torch::nn::LinearImpl model(256, 128);  // 32,768 weights: remembered by sketches
  ParameterBook book(model);
  auto recorder = Recorder::open({}, {});
  ASSERT_TRUE(recorder);
  book.measure();
  for (std::int64_t step = 0; step < 5; ++step) {
    const at::Tensor weight = 1e-3 * at::randn_like(model.weight);
    const at::Tensor bias = 1e-3 * at::randn_like(model.bias);
    const double before = norm_of(model.weight);
    const at::Tensor weight_before = model.weight.clone();
    const at::Tensor bias_before = model.bias.clone();
    model.weight += weight;
    model.bias += bias;
    book.measure();
    book.record_updates(*recorder, step);
    const double moved = norm_of(model.weight - weight_before);
    EXPECT_NEAR(newest(*recorder, "updates/weight#norm"), moved, 0.06 * moved);
    EXPECT_NEAR(newest(*recorder, "updates/weight#ratio"), moved / before, 0.06 * moved / before);
    const double moved_bias = norm_of(model.bias - bias_before);
    EXPECT_NEAR(newest(*recorder, "updates/bias#norm"), moved_bias, 1e-5 * moved_bias);
  }
  book.measure();
  book.record_updates(*recorder, 5);
  EXPECT_EQ(newest(*recorder, "updates/weight#norm"), 0) << "nothing has moved";
}

TEST(ParameterBook, HoldsTheGradientsOfTwoStepsAgainstEachOther) {
  const TestSeed seed(4);
  const at::NoGradGuard no_graph;
  ::torch::nn::LinearImpl model(256, 128);
  ParameterBook book(model);
  const at::Tensor first = at::randn_like(model.weight);
  const at::Tensor second = 0.5 * first + at::randn_like(model.weight);
  model.weight.mutable_grad() = first.clone();
  book.look(true);
  EXPECT_TRUE(book.remembers_gradients());
  EXPECT_FALSE(book.take_pair());
  model.weight.mutable_grad() = second.clone();
  book.look();  // not part of the pair
  book.look(true);
  EXPECT_FALSE(book.remembers_gradients());
  const auto pair = book.take_pair();
  ASSERT_TRUE(pair);
  EXPECT_NEAR(pair->dot / pair->a_squared, 0.5, 0.1);
  EXPECT_NEAR(pair->a_norm(), norm_of(first), 1e-5 * norm_of(first));
  EXPECT_NEAR(pair->b_norm(), norm_of(second), 1e-5 * norm_of(second));
  EXPECT_FALSE(book.take_pair()) << "told once";
}

}  // namespace
}  // namespace osler::torch
