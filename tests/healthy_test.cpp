// Osler is silent on healthy runs: a property over a thousand random ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "osler/diagnosis/diagnose.h"
#include "simulate/simulated_run.h"

namespace osler {
namespace {

constexpr std::size_t kRuns = 1000;
constexpr std::size_t kMostAlarms = kRuns / 100;
constexpr std::uint64_t kSeed = 20'000;  // the scorer draws other members of the families

std::vector<const simulate::Family*> healthy_families() {
  std::vector<const simulate::Family*> found;
  for (const simulate::Family& family : simulate::families()) {
    if (family.healthy) found.push_back(&family);
  }
  return found;
}

/// The warnings on a run that its label does not allow.
std::string alarms(const simulate::SimulatedRun& run) {
  const Result<Report> report = diagnose(simulate::to_run(run));
  if (!report) return fmt::format("{}/{}: {}\n", run.family, run.seed, describe(report.error()));
  std::string text;
  const std::vector<std::string>& allowed = run.truth.tolerate;
  for (const Observation& seen : report->findings) {
    if (seen.severity < Severity::warning) continue;
    if (std::find(allowed.begin(), allowed.end(), seen.finding) != allowed.end()) continue;
    text += fmt::format("{}/{}: {} {} ({:.2f}): {}\n", run.family, run.seed, to_string(seen.severity), seen.finding,
                        seen.confidence, seen.summary);
  }
  return text;
}

TEST(HealthyRunsTest, AtMostOneInAHundredIsAccused) {
  const std::vector<const simulate::Family*> families = healthy_families();
  ASSERT_FALSE(families.empty());
  std::size_t accused = 0;
  std::string offenders;
  for (std::size_t i = 0; i < kRuns; ++i) {
    const std::string found = alarms(simulate::draw(*families[i % families.size()], kSeed + i / families.size()));
    accused += found.empty() ? 0 : 1;
    offenders += found;
  }
  EXPECT_LE(accused, kMostAlarms) << "of " << kRuns << " healthy runs\n" << offenders;
}

}  // namespace
}  // namespace osler
