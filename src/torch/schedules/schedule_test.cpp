// Schedules at every step: against tables worked out by other means, and against PyTorch's own numbers.
#include "osler/torch/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <string>

namespace osler::torch {
namespace {

constexpr double kExact = 1e-12;

void expect_rates(const Schedule& schedule, const std::vector<double>& table) {
  for (std::size_t step = 0; step < table.size(); ++step) {
    ASSERT_NEAR(schedule.at(static_cast<std::int64_t>(step)).rate, table[step], kExact * std::max(1.0, table[step]))
        << schedule.description() << " at step " << step;
  }
}

TEST(Schedule, StaysAsItIsByDefault) {
  const Schedule schedule;
  EXPECT_EQ(schedule.at(0), ScheduledSetting{});
  EXPECT_EQ(schedule.at(1000000), ScheduledSetting{});
}

TEST(Schedule, FallsInSteps) {
  std::vector<double> table;
  double rate = 1;
  for (int decay = 0; decay < 5; ++decay) {
    table.insert(table.end(), 7, rate);
    rate *= 0.3;
  }
  expect_rates(step_decay({.every = 7, .factor = 0.3}), table);
}

TEST(Schedule, FallsAtMilestones) {
  std::vector<double> table(4, 1.0);
  table.insert(table.end(), 2, 0.5);
  table.insert(table.end(), 10, 0.25);
  expect_rates(multi_step_decay({.milestones = {4, 6}, .factor = 0.5}), table);
}

TEST(Schedule, FallsExponentially) {
  std::vector<double> table;
  double rate = 1;
  for (int step = 0; step < 200; ++step) {
    table.push_back(rate);
    rate *= 0.97;
  }
  expect_rates(exponential_decay({.factor = 0.97}), table);
}

TEST(Schedule, FallsByAPowerAndStaysAtTheFloor) {
  // A cubic grows by differences of its differences.
  std::vector<double> table;
  for (int step = 0; step <= 20; ++step) {
    double cubes = 0;
    for (int odd = 0, next = 1; odd < 20 - step; ++odd) {
      double cube = 0;
      for (int i = 0; i <= odd; ++i, next += 2) cube += next;
      cubes = cube;
    }
    table.push_back(0.2 + 0.8 * cubes / 8000);
  }
  table.insert(table.end(), 5, 0.2);
  expect_rates(polynomial_decay({.steps = 20, .power = 3, .floor = 0.2}), table);
}

TEST(Schedule, FallsByTheInverseSquareRoot) {
  std::vector<double> table;
  for (int step = 0; step < 300; ++step) table.push_back(1 / std::hypot(1.0, std::sqrt(step / 16.0)));
  expect_rates(inverse_square_root_decay({.timescale = 16}), table);
}

TEST(Schedule, IsTheTransformersAfterAWarmUpFromNothing) {
  constexpr double kWarm = 40;
  std::vector<double> table;
  for (int step = 0; step < 400; ++step) {
    // The paper's formula over its value at the peak.
    const double by_step = step > 0 ? std::pow(step, -0.5) : HUGE_VAL;
    table.push_back(std::min(by_step, step * std::pow(kWarm, -1.5)) / std::pow(kWarm, -0.5));
  }
  expect_rates(warmup({.steps = 40, .start = 0}, inverse_square_root_decay({.timescale = 40})), table);
}

TEST(Schedule, FallsAlongACosineAndStaysAtTheFloor) {
  std::vector<double> table;
  for (int step = 0; step <= 50; ++step) {
    const double half = std::cos(std::numbers::pi * step / 100);
    table.push_back(0.1 + 0.9 * half * half);
  }
  table.insert(table.end(), 60, 0.1);
  expect_rates(cosine_decay({.steps = 50, .floor = 0.1}), table);
}

TEST(Schedule, WarmsUpBeforeTheCosine) {
  std::vector<double> table = {0.1, 0.28, 0.46, 0.64, 0.82};
  for (int step = 0; step <= 20; ++step) {
    const double half = std::cos(std::numbers::pi * step / 40);
    table.push_back(0.05 + 0.95 * half * half);
  }
  table.insert(table.end(), 10, 0.05);
  expect_rates(warmup_cosine({.warmup = 5, .steps = 25, .floor = 0.05, .start = 0.1}), table);
}

TEST(Schedule, RestartsWarmAndTakesLonger) {
  std::vector<double> table;
  for (const int length : {3, 9, 27, 81}) {
    for (int step = 0; step < length; ++step) {
      const double half = std::sin(std::numbers::pi * step / (2 * length));
      table.push_back(1 - 0.75 * half * half);
    }
  }
  expect_rates(cosine_restarts({.first = 3, .stretch = 3, .floor = 0.25}), table);
  EXPECT_NEAR(cosine_restarts({.first = 3, .stretch = 3}).at(INT64_MAX).rate, 0.5, 0.5);
}

TEST(Schedule, RisesAndFallsInTriangles) {
  expect_rates(cyclical({.up = 4, .down = 2, .low = 0.2}),
               {0.2, 0.4, 0.6, 0.8, 1, 0.6, 0.2, 0.4, 0.6, 0.8, 1, 0.6, 0.2});
  expect_rates(cyclical({.up = 2, .low = 0.2, .mode = CycleMode::triangular_halved}),
               {0.2, 0.6, 1, 0.6, 0.2, 0.4, 0.6, 0.4, 0.2, 0.3, 0.4, 0.3, 0.2});
  std::vector<double> table;
  double height = 1;
  for (int step = 0; step < 40; ++step) {
    table.push_back(0.2 + 0.8 * height * std::vector<double>{0, 0.5, 1, 0.5}[static_cast<std::size_t>(step % 4)]);
    height *= 0.9;
  }
  expect_rates(cyclical({.up = 2, .low = 0.2, .mode = CycleMode::exponential_range, .factor = 0.9}), table);
}

TEST(Schedule, MakesOneCycleWithMomentumAgainstTheRate) {
  // Ten steps, the peak at step 4, the end at step 9, along straight lines.
  const Schedule schedule = one_cycle(
      {.steps = 10, .rise = 0.5, .start = 0.2, .end = 0, .linear = true, .momentum = MomentumCycle{0.5, 0.9}});
  expect_rates(schedule, {0.2, 0.4, 0.6, 0.8, 1, 0.8, 0.6, 0.4, 0.2, 0, 0, 0});
  const std::vector<double> momenta = {0.9, 0.8, 0.7, 0.6, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9, 0.9};
  for (std::size_t step = 0; step < momenta.size(); ++step) {
    EXPECT_NEAR(*schedule.at(static_cast<std::int64_t>(step)).momentum, momenta[step], kExact) << "at step " << step;
  }
  EXPECT_FALSE(one_cycle({.steps = 10, .momentum = std::nullopt}).at(3).momentum);
}

TEST(Schedule, RisesWithinAShortCycleWithoutDividingByNothing) {
  for (const double rise : {0.0, 0.1, 0.3, 0.5, 1.0}) {
    for (const std::int64_t steps : {2, 3, 10}) {
      const Schedule schedule = one_cycle({.steps = steps, .rise = rise});
      for (std::int64_t step = 0; step < steps + 2; ++step) {
        EXPECT_TRUE(std::isfinite(schedule.at(step).rate)) << schedule.description() << " at step " << step;
      }
    }
  }
}

// ---- PyTorch's numbers, written by tools/schedule-tables.

const std::map<std::string, Schedule>& same_as_pytorch() {
  static const std::map<std::string, Schedule> kSchedules = {
      {"one-cycle", one_cycle({.steps = 200})},
      {"one-cycle-linear", one_cycle({.steps = 90,
                                      .rise = 0.25,
                                      .start = 0.1,
                                      .end = 0.001,
                                      .linear = true,
                                      .momentum = MomentumCycle{0.8, 0.9}})},
      {"one-cycle-three-phases", one_cycle({.steps = 101, .rise = 0.4, .three_phases = true})},
      {"cosine", cosine_decay({.steps = 120, .floor = 0.1})},
      {"cosine-restarts", cosine_restarts({.first = 30})},
      {"cosine-restarts-stretched", cosine_restarts({.first = 10, .stretch = 2, .floor = 0.05})},
      {"cyclical", cyclical({.up = 20, .low = 0.1})},
      {"cyclical-uneven", cyclical({.up = 20, .down = 13, .low = 0.1, .momentum = MomentumCycle{0.8, 0.95}})},
      {"cyclical-halved",
       cyclical({.up = 20, .low = 0.1, .mode = CycleMode::triangular_halved, .momentum = MomentumCycle{0.8, 0.95}})},
      {"cyclical-range", cyclical({.up = 20, .low = 0.1, .mode = CycleMode::exponential_range, .factor = 0.98})},
      {"step", step_decay({.every = 15, .factor = 0.3})},
      {"multi-step", multi_step_decay({.milestones = {10, 11, 50}, .factor = 0.3})},
      {"exponential", exponential_decay({.factor = 0.9})},
      {"polynomial", polynomial_decay({.steps = 60, .power = 2})},
  };
  return kSchedules;
}

TEST(Schedule, GivesPyTorchsNumbersAtEveryStep) {
  constexpr double kRate = 0.5;  // of the table
  std::ifstream table(OSLER_SOURCE_DIR "/src/torch/schedules/pytorch_schedules.csv");
  ASSERT_TRUE(table);
  std::string line;
  std::getline(table, line);
  ASSERT_EQ(line, "schedule,step,lr,momentum");
  std::map<std::string, int> seen;
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string name;
    std::int64_t step = 0;
    double rate = 0;
    double momentum = 0;
    char comma = 0;
    std::getline(row, name, ',');
    ASSERT_TRUE(row >> step >> comma >> rate >> comma >> momentum) << line;
    ++seen[name];
    const auto at = same_as_pytorch().find(name);
    ASSERT_NE(at, same_as_pytorch().end()) << name;
    const ScheduledSetting setting = at->second.at(step);
    // PyTorch works some of them out from the step before, and so carries rounding errors along.
    ASSERT_NEAR(kRate * setting.rate, rate, 1e-13) << line;
    if (setting.momentum) {
      ASSERT_NEAR(*setting.momentum, momentum, 1e-13) << line;
    }
  }
  EXPECT_EQ(seen.size(), same_as_pytorch().size());
}

// ---- Manners.

TEST(Schedule, TakesStepsBeforeTheFirstAsTheFirst) {
  EXPECT_EQ(cosine_decay({.steps = 10}).at(-5), cosine_decay({.steps = 10}).at(0));
}

TEST(Schedule, SaysItsNumbers) {
  EXPECT_EQ(warmup({.steps = 5, .start = 0.5}, cosine_decay({.steps = 10, .floor = 0.25})).description(),
            "warmup(steps=5, start=0.5, cosine_decay(steps=10, floor=0.25))");
}

TEST(Schedule, RefusesNumbersThatMakeNoSense) {
  EXPECT_THROW(Schedule("mine", nullptr), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(step_decay({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(step_decay({.every = 3, .factor = -1})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(multi_step_decay({.milestones = {5, 3}})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(exponential_decay({.factor = std::nan("")})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(polynomial_decay({.steps = 0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(inverse_square_root_decay({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(cosine_decay({.steps = 10, .floor = 2})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(cosine_restarts({.first = 10, .stretch = 0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(warmup({.steps = -1}, Schedule())), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(warmup_cosine({.warmup = 10, .steps = 10})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(one_cycle({.steps = 1})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(one_cycle({.steps = 10, .rise = 0.6, .three_phases = true})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(cyclical({.up = 0})), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
