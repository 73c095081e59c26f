// The example that runs probes: right answers on a sound training and on a ruined one, and a run file that keeps them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "osler/run/experiment.h"
#include "osler/source/source.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using ::testing::HasSubstr;
using testing::TestFolder;
using Outcome = Experiment::Outcome;

/// What the example found at a learning rate, by probe, as its run file tells.
std::map<std::string, Experiment> found_at(const std::string& rate) {
  const TestFolder folder;
  const std::string path = (folder / "probed.osler").string();
  const std::string command = std::string(OSLER_EXAMPLE_PROBES) + " " + rate + " " + path + " > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  const auto run = read(path);
  EXPECT_TRUE(run) << (run ? "" : run.error().message);
  std::map<std::string, Experiment> found;
  if (!run) return found;
  for (Experiment& each : experiments(*run)) found.emplace(each.probe, std::move(each));
  return found;
}

TEST(ProbesExample, FindsNothingWrongAtTheUsualRate) {
  const auto found = found_at("0.001");
  EXPECT_EQ(found.size(), 11U);
  for (const auto& [probe, experiment] : found) {
    EXPECT_EQ(experiment.outcome, Outcome::passed) << probe << ": " << experiment.verdict;
  }
}

TEST(ProbesExample, SaysWhatIsWrongAtARateOfTen) {
  auto found = found_at("10");
  for (const char* probe : {"checkup", "overfit-one-batch", "update-ratios", "lr-range-test", "sharpness"}) {
    EXPECT_EQ(found[probe].outcome, Outcome::failed) << probe << ": " << found[probe].verdict;
  }
  EXPECT_THAT(found["checkup"].verdict, HasSubstr("loss-falls"));
  EXPECT_THAT(found["overfit-one-batch"].verdict, HasSubstr("of the learning rate"));
  EXPECT_THAT(found["lr-range-test"].verdict, HasSubstr("The present one, 10, is"));
  EXPECT_LT(found["lr-range-test"].value("suggestion").value_or(10), 0.1);
  // Nobody has spoiled the first weights, and where all units are dead no batch size is sensible.
  EXPECT_EQ(found["initialisation-check"].outcome, Outcome::passed) << found["initialisation-check"].verdict;
  EXPECT_NE(found["gradient-noise-scale"].outcome, Outcome::passed) << found["gradient-noise-scale"].verdict;
}

}  // namespace
}  // namespace osler
