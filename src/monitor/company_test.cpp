// Which networks are trained in turns on each other's answers, and which merely beside each other.
#include "monitor/company.h"

#include <gtest/gtest.h>

namespace osler::monitor {
namespace {

constexpr int kSteps = 12;

TEST(Company, AGeneratorAndItsCriticTakeTurns) {
  Company generator;
  Company critic;
  for (int i = 0; i < kSteps; ++i) {
    critic.used();  // on real samples, and on those of the generator
    critic.used();
    critic.left(1);
    generator.used();
    critic.used();  // by the generator's loss
    generator.left(1);
  }
  EXPECT_TRUE(critic.in_turns());
  EXPECT_TRUE(generator.in_turns());
}

TEST(Company, AnEnsembleDoesNotAndNeitherDoNetworksThatTeachEachOther) {
  Company first;
  Company second;
  Company third;
  for (int i = 0; i < kSteps; ++i) {
    first.used();
    first.left(1);
    second.used();
    third.used();
    second.left(1);
    third.left(1);
  }
  EXPECT_FALSE(first.in_turns() || second.in_turns() || third.in_turns());
}

TEST(Company, ANetworkAloneHasNoTurns) {
  Company alone;
  for (int i = 0; i < kSteps; ++i) {
    alone.used();
    alone.used();
    alone.left(1);
  }
  EXPECT_FALSE(alone.in_turns());
  EXPECT_EQ(alone.others_trained(), 0);
}

TEST(Company, WhatOthersTrainIsKnownFromTheOwnNewestStepOn) {
  Company one;
  Company other;
  one.left(2);
  other.left(3);
  other.left(4);
  EXPECT_EQ(one.others_trained(), 7);
  EXPECT_EQ(other.others_trained(), 0);
}

}  // namespace
}  // namespace osler::monitor
