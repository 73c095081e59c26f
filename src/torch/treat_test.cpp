// A training that a factory builds is treated by its own report's remedies.
#include "osler/torch/treat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

using testing::Contains;
using testing::Field;

/// A line to be fitted by one layer; the learning rate decides whether it is.
BuiltTraining build(double rate) {
  const auto layer = std::make_shared<::torch::nn::LinearImpl>(4, 1);
  const auto optimizer = std::make_shared<::torch::optim::SGD>(layer->parameters(), ::torch::optim::SGDOptions(rate));
  const auto batch = [] {
    const at::Tensor x = at::randn({32, 4});
    return Batch{x, x.sum(1, true) * 3};
  };
  return {layer, optimizer,
          Training{*layer, *optimizer, [layer](const at::Tensor& x) { return layer->forward(x); },
                   [](const at::Tensor& outputs, const at::Tensor& targets) { return at::mse_loss(outputs, targets); },
                   batch, batch, std::nullopt}};
}

Report report_with(std::vector<Remedy> remedies) {
  Report report;
  report.causes.push_back({"lr-too-high", 0.9, {}, {}, {}, std::move(remedies)});
  return report;
}

TEST(Treat, KeepsTheLearningRateThatHelps) {
  const Report report = report_with({{"Divide by 100.", Remedy::Change{"lr", "5", "0.05"}},
                                     {"Raise it.", Remedy::Change{"lr", "5", "50"}},
                                     {"Look at the data.", std::nullopt}});
  const probes::Cure cure = treat(report, [](const probes::Changes&) { return build(5); }, {.steps = 60});
  ASSERT_EQ(cure.kept.size(), 1U);
  EXPECT_EQ(cure.kept[0].to, "0.05");
  EXPECT_LT(cure.treated, 0.5);
  EXPECT_FALSE(cure.untreated < 10) << "it diverges untreated";
  ASSERT_EQ(cure.trials.size(), 2U);
  EXPECT_FALSE(cure.trials[1].kept);
  EXPECT_THAT(cure.for_a_person, Contains("Look at the data."));
}

TEST(Treat, HandsOtherSettingsToTheFactoryThatKnowsThem) {
  const Report report = report_with({{"Use another width.", Remedy::Change{"width", "1", "8"}},
                                     {"Use momentum.", Remedy::Change{"optimizer", "sgd", "adam"}}});
  std::vector<std::string> asked;
  const Factory factory = [&](const probes::Changes& changes) {
    for (const Remedy::Change& change : changes) asked.push_back(change.name);
    return build(0.01);
  };
  const probes::Cure cure = treat(report, factory, {.can_change = {"width"}, .steps = 20});
  EXPECT_EQ(asked, std::vector<std::string>{"width"});
  EXPECT_THAT(cure.for_a_person, Contains("Use momentum."));
}

TEST(Treat, CountsATrainingThatCannotBeBuiltAsNoHelp) {
  const Report report = report_with({{"Break it.", Remedy::Change{"width", "1", "-1"}}});
  const Factory factory = [](const probes::Changes& changes) {
    if (!changes.empty()) throw std::invalid_argument("no such width");
    return build(0.01);
  };
  const probes::Cure cure = treat(report, factory, {.can_change = {"width"}, .steps = 20});
  ASSERT_EQ(cure.trials.size(), 1U);
  EXPECT_FALSE(cure.trials[0].kept);
  EXPECT_TRUE(cure.kept.empty());
}

}  // namespace
}  // namespace osler::torch
