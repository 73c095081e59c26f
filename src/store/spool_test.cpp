// A spool: what it keeps over the death of its holder, and whom it lets in.
#include "store/spool.h"

#include <gtest/gtest.h>

#include <fstream>

namespace osler::store {
namespace {

namespace fs = std::filesystem;

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Result<Spool> open(std::uint64_t most = 1 << 20) const { return Spool::open(folder_, most); }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      (std::string("osler-spool-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::vector<Insert> batch(const std::string& body) {
  return {{"points", "(run, step)", body}, {"runs", "(run)", std::string("\0\xff\n", 3)}};
}

TEST_F(SpoolTest, GivesBatchesBackInTheirOrderAfterItsHolderIsGone) {
  {
    auto spool = open();
    ASSERT_TRUE(spool) << describe(spool.error());
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(spool->push(batch("body " + std::to_string(i))));
    spool->pop();
  }
  auto again = open();
  ASSERT_TRUE(again) << describe(again.error());
  ASSERT_TRUE(again->push(batch("body 12")));
  for (int i = 1; i <= 12; ++i) {
    ASSERT_FALSE(again->empty());
    const auto front = again->front();
    ASSERT_TRUE(front) << describe(front.error());
    ASSERT_EQ(front->size(), 2U);
    EXPECT_EQ(front->at(0).body, "body " + std::to_string(i));
    EXPECT_EQ(front->at(0).columns, "(run, step)");
    EXPECT_EQ(front->at(1).body, std::string("\0\xff\n", 3));
    again->pop();
  }
  EXPECT_TRUE(again->empty());
  EXPECT_EQ(again->bytes(), 0U);
}

TEST_F(SpoolTest, BelongsToOneHolderAtATime) {
  auto spool = open();
  ASSERT_TRUE(spool);
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::io);
}

TEST_F(SpoolTest, HasABound) {
  auto spool = open(100);
  ASSERT_TRUE(spool);
  EXPECT_TRUE(spool->has_room());
  ASSERT_TRUE(spool->push(batch(std::string(200, 'x'))));
  EXPECT_FALSE(spool->has_room());
  spool->pop();
  EXPECT_TRUE(spool->has_room());
}

TEST_F(SpoolTest, GoesAwayWithItsLastBatch) {
  {
    auto spool = open();
    ASSERT_TRUE(spool);
    ASSERT_TRUE(spool->push(batch("x")));
    spool->pop();
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(SpoolTest, LeavesADamagedBatchForSomebodyToLookAt) {
  {
    auto spool = open();
    ASSERT_TRUE(spool);
    ASSERT_TRUE(spool->push(batch("whole")));
    ASSERT_TRUE(spool->push(batch("behind it")));
  }
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().filename() == "00000000000000000000.batch") fs::resize_file(file.path(), 20);
  }
  auto spool = open();
  ASSERT_TRUE(spool);
  const auto front = spool->front();
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::corrupt);
  spool->set_aside();
  EXPECT_TRUE(fs::exists(folder_ / "00000000000000000000.batch.broken"));
  const auto next = spool->front();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at(0).body, "behind it");
}

}  // namespace
}  // namespace osler::store
