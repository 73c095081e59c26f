// Records of a .wandb file, whole, cut and damaged; more in tests/samples/wandb.
#include "formats/wandb/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reading.h"

namespace osler::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::string sample(std::string_view name) {
  std::ifstream file(std::string(OSLER_SOURCE_DIR) + "/tests/samples/wandb/" + std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome read(std::string_view bytes) {
  return read_whole_text(*find_format("wandb"), "run.wandb", bytes);
}

TEST(Wandb, ReadsHistoryConfigurationAndEnd) {
  const Outcome outcome = read(sample("offline.wandb"));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.sink.steps("loss").size(), 20U);
  EXPECT_EQ(outcome.sink.values("train/acc")[1], 0.05);  // a nested object
  EXPECT_EQ(outcome.sink.values("val/loss")[0], 2.6);    // nested keys
  EXPECT_EQ(outcome.sink.configuration.at("model/width"), "64");
  EXPECT_EQ(outcome.sink.events.front().wall_time, 1700000000);
  ASSERT_EQ(outcome.sink.marks.size(), 1U);
  EXPECT_EQ(outcome.sink.marks[0].kind, Mark::Kind::finished);
  EXPECT_EQ(outcome.sink.marks[0].step, 19);
  EXPECT_THAT(outcome.sink.names, Not(Contains("picture/width")));
  EXPECT_THAT(outcome.sink.names, Not(Contains("_runtime")));
}

TEST(Wandb, TheTrainersOwnStepIsTheAxis) {
  const Outcome outcome = read(sample("lightning.wandb"));
  EXPECT_EQ(outcome.sink.steps("train_loss_step").front(), 49);
  EXPECT_EQ(outcome.sink.steps("val_loss").back(), 299);
  ASSERT_EQ(outcome.sink.marks.size(), 1U);
  EXPECT_EQ(outcome.sink.marks[0].kind, Mark::Kind::crashed);
}

TEST(Wandb, EachDamagedFragmentCostsOneRecord) {
  const std::string good = sample("lightning.wandb");
  std::string bad = good;
  bad[300] ^= 0x10;
  const Outcome outcome = read(bad);
  EXPECT_EQ(outcome.damage.total(), 1U);
  EXPECT_EQ(outcome.sink.steps("epoch").size() + 1, read(good).sink.steps("epoch").size());
}

TEST(Wandb, AFileThatEndsEarlyIsTruncatedAndNotCorrupt) {
  const std::string good = sample("lightning.wandb");
  const Outcome outcome = read(std::string_view(good).substr(0, good.size() - 3));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::truncated);
  EXPECT_EQ(outcome.sink.steps("val_loss").size(), 6U);
}

TEST(Wandb, RecordsThatSpanBlocksArePutTogether) {
  // The sample holds a record of 40 kB; what comes behind it lies in the second block.
  const std::string bytes = sample("offline.wandb");
  ASSERT_GT(bytes.size(), WandbLog::kBlockBytes);
  EXPECT_EQ(read(bytes).sink.steps("loss").back(), 19);
}

TEST(Wandb, AnotherFileIsRefused) {
  const Outcome outcome = read("not a wandb file at all");
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::corrupt);
  EXPECT_FALSE(WandbLog::opens(":W&B"));
}

}  // namespace
}  // namespace osler::testing
