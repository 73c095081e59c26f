// Tracebacks at the end, amid the values, and such that were survived.
#include <gtest/gtest.h>

#include <string>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "run-crashed";

/// A hundred steps of a thousand that were planned, with tracebacks at these steps.
Run with_tracebacks(std::initializer_list<std::int64_t> steps, bool plan = true) {
  osler::Run run;
  record(run, "loss", curve(100, [](double x) { return descent(x); }));
  if (plan) run.config("max_steps", "1000");
  for (const std::int64_t step : steps) {
    run.add(Mark{Mark::Kind::crashed, step, kNoTime, "exception: RuntimeError: shapes differ"});
  }
  return run;
}

TEST(RunCrashed, ATracebackAtTheEndIsCritical) {
  EXPECT_TRUE(found(verdict_of(kId, with_tracebacks({99})), Severity::critical));
}

TEST(RunCrashed, ATracebackThatOvertookTheBufferedLinesIsAWarning) {
  const Verdict verdict = verdict_of(kId, with_tracebacks({40}));
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_NE(in_words(verdict).find("short of max_steps 1000"), std::string::npos) << in_words(verdict);
}

TEST(RunCrashed, WhatThePlanDoesNotShowToBeCutShortWasSurvived) {
  EXPECT_TRUE(no_alarm(verdict_of(kId, with_tracebacks({40}, false))));
}

TEST(RunCrashed, ErrorsAgainAndAgainAreCaughtByTheProgram) {
  EXPECT_TRUE(no_alarm(verdict_of(kId, with_tracebacks({20, 40, 60}))));
}

}  // namespace
}  // namespace osler::sample
