// A loss that falls silent: NaN that was written as an empty cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::NotNull;

/// A series with a value at every step from `first` up to, but not including, `end`.
struct Logged {
  const char* name;
  int first = 0;
  int end = 300;
};

Report report_on(std::initializer_list<Logged> series) {
  Run run;
  for (int step = 0; step < 300; ++step) {
    for (const Logged& logged : series) {
      const SeriesId id = run.series(logged.name);
      const double value = 0.1 + 2 * std::exp(-step / 60.0) + 0.01 * std::sin(1.7 * step);
      if (step >= logged.first && step < logged.end) run.add(Event{id, step, kNoTime, value});
    }
  }
  return *diagnose(run);
}

const Observation* nonfinite_of(const Report& report) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [](const Observation& seen) { return seen.finding == "loss-nonfinite-later"; });
  return found == report.findings.end() ? nullptr : &*found;
}

TEST(FallenSilent, ALossWithoutValuesWhileItsRowsGoOn) {
  const Report report = report_on({{"train_loss", 0, 150}, {"val_loss", 0, 150}, {"lr"}});
  const Observation* seen = nonfinite_of(report);
  ASSERT_THAT(seen, NotNull());
  EXPECT_EQ(seen->severity, Severity::warning) << "it may have been left out on purpose";
  EXPECT_EQ(seen->first_step, 149);
  EXPECT_THAT(seen->summary, HasSubstr("train_loss has no value after step 149, while lr goes on to step 299"));
}

TEST(FallenSilent, NotWhereALossGoesOn) {
  EXPECT_THAT(nonfinite_of(report_on({{"train_loss", 0, 150}, {"val_loss"}, {"lr"}})), IsNull());
}

TEST(FallenSilent, NotWhereSomethingNewBegins) {
  EXPECT_THAT(nonfinite_of(report_on({{"train_loss", 0, 150}, {"lr"}, {"second_stage", 150}})), IsNull());
}

TEST(FallenSilent, NotForAFewRowsAtTheEnd) {
  EXPECT_THAT(nonfinite_of(report_on({{"train_loss", 0, 280}, {"lr"}})), IsNull());
}

TEST(FallenSilent, NotBesideWhatIsLoggedAtStepsOfItsOwn) {
  EXPECT_THAT(nonfinite_of(report_on({{"train_loss", 0, 150}, {"memory", 10}})), IsNull());
}

}  // namespace
}  // namespace osler
