// The example without a framework: it learns with a sane rate, is stopped with a mad one, and leaves a run file.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "osler/runfile/reader.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using testing::TestFolder;

struct Outcome {
  int exit_code = -1;
  std::string text;
};

Outcome run_example(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = ::popen((std::string(OSLER_EXAMPLE) + " " + arguments).c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> block{};
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    outcome.text.append(block.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

TEST(PlainExample, LearnsAndLeavesARunFile) {
  const TestFolder folder;
  const auto path = folder / "run.osler";
  const Outcome outcome = run_example(path.string());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  auto reader = RunFileReader::open(path);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->name(), "two spirals");
  const auto loss = reader->window("train/loss");
  ASSERT_EQ(loss->size(), 600U);
  EXPECT_LT(loss->back().mean, 0.5 * loss->front().mean);
  EXPECT_EQ(reader->histograms("gradients/hidden1")->size(), 60U);
  EXPECT_EQ(reader->reports()->size(), 1U);
}

TEST(PlainExample, IsStoppedWhenItsLearningRateIsMad) {
  const TestFolder folder;
  const Outcome outcome = run_example((folder / "run.osler").string() + " 3000");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("stopped at step"), std::string::npos) << outcome.text;
}

}  // namespace
}  // namespace osler
