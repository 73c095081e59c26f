// Trainings are real, repeatable, and changed by what is planted in the way that the fault says.
#include <gtest/gtest.h>

#include <cmath>

#include "history.h"

namespace osler::population {
namespace {

/// Two hundred steps of a small classifier.
Recipe small_recipe() {
  Recipe recipe;
  recipe.seed = 11;
  recipe.outputs = 4;
  recipe.rate = 5e-3;
  recipe.steps = recipe.horizon = 200;
  recipe.evaluations = 10;
  return recipe;
}

TEST(PopulationTraining, LearnsAndIsTheSameEachTime) {
  const History once = train(small_recipe(), false);
  const History again = train(small_recipe(), false);
  EXPECT_LT(once.final.loss, 0.6 * once.untrained.loss);
  EXPECT_DOUBLE_EQ(once.final.loss, again.final.loss);
  EXPECT_EQ(once.steps.size(), 200U);
  EXPECT_EQ(once.looks.size(), 10U);
}

TEST(PopulationTraining, GoesUpWhenTheSignIsWrong) {
  Recipe recipe = small_recipe();
  recipe.form = LossForm::negated;
  const History run = train(recipe, false);
  EXPECT_GT(run.final.loss, run.untrained.loss);
  EXPECT_LT(run.steps.back().loss, run.steps.front().loss);
}

TEST(PopulationTraining, LeavesFrozenLayersAsTheyWere) {
  Recipe recipe = small_recipe();
  recipe.frozen_from = 0;
  recipe.frozen_to = 1;
  const History run = train(recipe, true);
  EXPECT_EQ(run.steps.front().layer_weights[0], run.steps.back().layer_weights[0]);
  EXPECT_NE(run.steps.front().layer_weights[1], run.steps.back().layer_weights[1]);
}

TEST(PopulationTraining, CutsTheGraphWhereItIsDetached) {
  Recipe recipe = small_recipe();
  recipe.detached = 2;
  const History run = train(recipe, true);
  EXPECT_EQ(run.steps.back().layer_gradients[0], 0);
  EXPECT_GT(run.steps.back().layer_gradients[2], 0);
}

TEST(PopulationTraining, HasAGrowingGradientWhenNobodyClearsIt) {
  Recipe recipe = small_recipe();
  const double usual = train(recipe, false).steps[20].gradient_norm;
  recipe.keep_gradients = true;
  EXPECT_GT(train(recipe, false).steps[20].gradient_norm, 2 * usual);
}

TEST(PopulationTraining, RepeatsItsValidationWhenTheCopyIsOld) {
  Recipe recipe = small_recipe();
  recipe.validation = Validation::stale;
  recipe.stale_from = 60;
  const History run = train(recipe, false);
  EXPECT_DOUBLE_EQ(run.looks[5].loss, run.looks.back().loss);
  EXPECT_LT(run.final.loss, run.looks.back().loss);
}

TEST(PopulationTraining, KeepsTheHeldOutSamplesWhenThereIsLittleData) {
  Recipe recipe = small_recipe();
  const double before = train(recipe, false).untrained.loss;
  recipe.samples = 40;
  recipe.batch = 16;
  EXPECT_DOUBLE_EQ(train(recipe, false).untrained.loss, before);
}

TEST(PopulationTraining, EndsWhenAnInputIsNotANumber) {
  Recipe recipe = small_recipe();
  recipe.bad_every = 50;
  recipe.bad_from = 100;
  recipe.bad_is_nan = true;
  const History run = train(recipe, false);
  EXPECT_EQ(run.nonfinite_from, 100);
  EXPECT_FALSE(run.finite);
}

TEST(PopulationTraining, TrainsEveryKindOfTaskAndModel) {
  struct Kind {
    Task task;
    Model model;
    Objective objective;
    Metric metric;
  };
  for (const Kind kind : {Kind{Task::images, Model::convolutional, Objective::cross_entropy, Metric::accuracy},
                          Kind{Task::binary, Model::residual, Objective::binary, Metric::auc},
                          Kind{Task::tags, Model::perceptron, Objective::binary, Metric::f1},
                          Kind{Task::margin, Model::perceptron, Objective::hinge, Metric::accuracy},
                          Kind{Task::regression, Model::perceptron, Objective::gaussian, Metric::r2},
                          Kind{Task::contrastive, Model::perceptron, Objective::contrastive, Metric::accuracy},
                          Kind{Task::characters, Model::lstm, Objective::cross_entropy, Metric::perplexity},
                          Kind{Task::sequences, Model::transformer, Objective::cross_entropy, Metric::accuracy},
                          Kind{Task::sequences, Model::recurrent, Objective::cross_entropy, Metric::accuracy}}) {
    Recipe recipe = small_recipe();
    recipe.task = kind.task;
    recipe.model = kind.model;
    recipe.objective = kind.objective;
    recipe.metric = kind.metric;
    recipe.inputs = kind.model == Model::convolutional ? 64 : 12;
    recipe.width = kind.model == Model::convolutional ? 8 : 32;
    recipe.length = 8;
    if (kind.task == Task::characters) recipe.outputs = recipe.inputs;
    if (kind.task == Task::binary) recipe.outputs = 1;
    recipe.norm = kind.model == Model::transformer ? Norm::layer : Norm::none;
    recipe.steps = recipe.horizon = 120;
    const History run = train(recipe, false);
    EXPECT_LT(run.final.loss, run.untrained.loss) << family(recipe);
  }
}

}  // namespace
}  // namespace osler::population
