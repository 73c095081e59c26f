// Recipes: every knob reads back what was set, and errors say what a knob takes.
#include "osler/gallery/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace osler::gallery {
namespace {

using testing::HasSubstr;

/// A value of the knob that a healthy recipe does not have.
std::string another_value(const Knob& knob) {
  const std::string present = knob.get(Recipe{});
  if (!knob.choices.empty())
    return std::string(knob.choices.front() == present ? knob.choices.back() : knob.choices.front());
  // Not the middle, which may be what the recipe has.
  const double value = knob.least + 0.75 * (knob.most - knob.least);
  const double middle = knob.kind == Knob::Kind::whole ? std::floor(value) : value;
  Recipe recipe;
  EXPECT_TRUE(knob.set(recipe, std::to_string(middle))) << knob.name;
  return knob.get(recipe);
}

TEST(Recipe, EveryKnobReadsBackWhatWasSet) {
  for (const Knob& knob : knobs()) {
    Recipe recipe;
    const std::string value = another_value(knob);
    ASSERT_TRUE(set(recipe, knob.name, value).has_value()) << knob.name << " = " << value;
    EXPECT_EQ(knob.get(recipe), value) << knob.name;
    const std::vector<Difference> changed = differences(Recipe{}, recipe);
    ASSERT_EQ(changed.size(), 1U) << knob.name << " changes itself and nothing else";
    EXPECT_EQ(changed.front(), (Difference{std::string(knob.name), knob.get(Recipe{}), value}));
  }
}

TEST(Recipe, EveryChoiceOfAKnobCanBeSet) {
  for (const Knob& knob : knobs()) {
    for (const std::string_view choice : knob.choices) {
      Recipe recipe;
      ASSERT_TRUE(set(recipe, knob.name, choice).has_value()) << knob.name << " = " << choice;
      EXPECT_EQ(knob.get(recipe), choice);
    }
  }
}

TEST(Recipe, ANumberBeyondItsBoundsIsRefused) {
  for (const Knob& knob : knobs()) {
    if (!knob.choices.empty()) continue;
    Recipe recipe;
    EXPECT_FALSE(set(recipe, knob.name, std::to_string(2 * knob.most + 1)).has_value()) << knob.name;
    EXPECT_EQ(recipe, Recipe{}) << knob.name << " is as before";
  }
}

TEST(Recipe, KnobsHaveNamesOfTheirOwnAndSayWhatTheyAre) {
  std::set<std::string_view> names;
  for (const Knob& knob : knobs()) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name;
    EXPECT_FALSE(knob.doc.empty()) << knob.name;
    EXPECT_EQ(find_knob(knob.name), &knob);
  }
}

TEST(Recipe, SettingsNameEveryKnob) {
  const auto all = settings(Recipe{});
  EXPECT_EQ(all.size(), knobs().size());
  EXPECT_EQ(all.at("optimizer"), "adam");
}

TEST(Recipe, AnUnknownKnobIsAnErrorThatSaysWhereTheyAreListed) {
  Recipe recipe;
  const auto done = set(recipe, "learning_rate", "0.1");
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message, HasSubstr("'learning_rate'"));
  EXPECT_THAT(done.error().message, HasSubstr("a recipe has no"));
}

TEST(Recipe, AWrongChoiceIsAnErrorThatListsTheRightOnes) {
  Recipe recipe;
  const auto done = set(recipe, "activation", "swish");
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message, "activation takes one of relu, leaky-relu, gelu, tanh, sigmoid, not 'swish'");
}

TEST(Recipe, AWrongNumberIsAnErrorThatNamesTheBounds) {
  Recipe recipe;
  for (const char* value : {"nan", "inf", "", "1e", "0.1x", "-1"}) {
    const auto done = set(recipe, "dropout", value);
    ASSERT_FALSE(done.has_value()) << value;
    EXPECT_THAT(done.error().message, HasSubstr("a number from 0 to 0.99"));
  }
}

TEST(Recipe, OptionalNumbersCanBeUnset) {
  Recipe recipe;
  ASSERT_TRUE(set(recipe, "clip_norm", "1.5").has_value());
  EXPECT_EQ(recipe.clip_norm, 1.5);
  ASSERT_TRUE(set(recipe, "clip_norm", "none").has_value());
  EXPECT_FALSE(recipe.clip_norm.has_value());
}

TEST(Recipe, PartsThatDoNotFitAreNamed) {
  const auto wrong = [](auto change) {
    Recipe recipe;
    change(recipe);
    const auto fits = check(recipe);
    return fits ? std::string() : fits.error().message;
  };
  EXPECT_EQ(wrong([](Recipe&) {}), "");
  EXPECT_THAT(wrong([](Recipe& r) { r.task = Task::text; }), HasSubstr("lstm or gpt"));
  EXPECT_THAT(wrong([](Recipe& r) { r.model = Model::gpt; }), HasSubstr("task text"));
  EXPECT_THAT(wrong([](Recipe& r) { r.model = Model::lstm; }), HasSubstr("task adding or text"));
  EXPECT_THAT(wrong([](Recipe& r) {
                r.model = Model::cnn;
                r.task = Task::clouds;
              }),
              HasSubstr("task digits"));
  EXPECT_THAT(wrong([](Recipe& r) { r.batch_size = r.samples + 1; }), HasSubstr("batch_size"));
  EXPECT_THAT(wrong([](Recipe& r) { r.resume_at = r.steps; }), HasSubstr("resume_at"));
}

}  // namespace
}  // namespace osler::gallery
