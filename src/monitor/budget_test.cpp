// A budget: what is earned, what is spent, and what must not ruin it.
#include "monitor/budget.h"

#include <gtest/gtest.h>

namespace osler::monitor {
namespace {

/// How often something that takes `cost` is done in so many steps of a millisecond each.
int times_done(Budget& budget, int steps, double cost) {
  int done = 0;
  for (int step = 0; step < steps; ++step) {
    if (budget.affords()) {
      budget.spend(cost);
      ++done;
    }
    budget.earn(1e-3);
  }
  return done;
}

TEST(BudgetTest, SpendsTheShareItIsGiven) {
  Budget budget(0.01);
  EXPECT_NEAR(times_done(budget, 10000, 50e-6), 2000, 10);
  EXPECT_NEAR(budget.spent(), 0.1, 0.001);
}

TEST(BudgetTest, SpendsNothingOfNothing) {
  Budget budget(0);
  EXPECT_EQ(times_done(budget, 1000, 1e-9), 0);
}

TEST(BudgetTest, FollowsWhatBecomesDearer) {
  Budget budget(0.01);
  times_done(budget, 1000, 10e-6);
  EXPECT_NEAR(times_done(budget, 10000, 1e-3), 100, 5);
}

TEST(BudgetTest, GoesOnAfterAnInterruption) {
  Budget budget(0.01);
  times_done(budget, 1000, 10e-6);
  budget.spend(600);                               // the process was stopped for ten minutes
  EXPECT_EQ(times_done(budget, 59000, 10e-6), 0);  // a minute of training pays for it
  EXPECT_GT(times_done(budget, 10000, 10e-6), 8000);
}

TEST(BudgetTest, KeepsItsShareWhereTheFirstTimeWasCheap) {
  Budget budget(0.01);
  budget.spend(1e-6);
  times_done(budget, 10000, 5e-3);
  EXPECT_NEAR(budget.spent(), 0.1, 0.01);
}

TEST(BudgetTest, IsNotPutIntoDebtByWhatWasGranted) {
  Budget budget(0.01);
  budget.grant(2);
  budget.spend(2);
  budget.earn(1);
  EXPECT_FALSE(budget.affords());  // it costs two seconds, as is known now
  Budget debtor(0.01);
  debtor.spend(0.001);
  Budget granted(0.01);
  granted.grant(0.001);
  granted.spend(0.001);
  EXPECT_LT(times_done(debtor, 150, 0.001), times_done(granted, 150, 0.001));
}

}  // namespace
}  // namespace osler::monitor
