// Which NaN of a table was computed, and which only says that nothing was measured.
#include "formats/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "formats/rows.h"
#include "recording_sink.h"

namespace osler {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::RecordingSink;
using ::testing::SizeIs;
using ::testing::Truly;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const auto kFinite = Truly([](double value) { return std::isfinite(value); });

/// A table of step, loss and another column, row by row.
class Table {
 public:
  explicit Table(const std::string& other, const std::string& axis = "step")
      : columns_{rows_.column(axis), rows_.column("loss"), rows_.column(other)} {}

  Table& row(double loss, double other) {
    const std::vector<Cell> cells = {
        {columns_[0], static_cast<double>(step_++)}, {columns_[1], loss}, {columns_[2], other}};
    rows_.row({cells, kNoTime, {}}, sink_);
    return *this;
  }
  [[nodiscard]] const RecordingSink& so_far() const { return sink_; }
  const RecordingSink& read() {
    rows_.finish(sink_);
    return sink_;
  }

 private:
  RowAssembler rows_;
  std::vector<std::uint32_t> columns_;
  RecordingSink sink_;
  int step_ = 0;
};

std::size_t nan_among(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
}

TEST(Gaps, WrittenAsInfinityAreNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Table table("val_loss");
  for (int i = 0; i < 60; ++i) table.row(2.0 - i * 0.01, i % 10 == 9 ? 2.1 - i * 0.01 : kInfinity);
  EXPECT_THAT(table.read().values("val_loss"), AllOf(SizeIs(6), Each(kFinite)));
  Table broken("val_loss");
  for (int i = 0; i < 60; ++i) i < 30 ? broken.row(2.0, 2.1) : broken.row(kInfinity, kInfinity);
  EXPECT_THAT(broken.read().values("loss"), SizeIs(60)) << "computed: no other loss has a value";
}

TEST(Gaps, OfRowsThatAlternateAreNoNan) {
  Table table("eval_loss");
  for (int i = 0; i < 20; ++i) i % 2 == 0 ? table.row(2.0 - i * 0.01, kNan) : table.row(kNan, 2.1 - i * 0.01);
  EXPECT_THAT(table.so_far().values("loss"), Each(kFinite)) << "while the log is being written";
  EXPECT_THAT(table.so_far().values("eval_loss"), Each(kFinite));
  EXPECT_THAT(table.read().values("loss"), SizeIs(10));
  EXPECT_THAT(table.read().values("eval_loss"), SizeIs(10));
}

TEST(Gaps, BetweenEvaluationsAreNoNan) {
  Table table("val_loss");
  for (int i = 0; i < 100; ++i) table.row(2.0 - i * 0.01, i % 20 == 19 ? 2.1 : kNan);
  EXPECT_THAT(table.read().values("val_loss"), ElementsAre(2.1, 2.1, 2.1, 2.1, 2.1));
  Table first("val_loss");
  for (int i = 0; i < 70; ++i) first.row(2.0 - i * 0.01, i % 20 == 0 ? 2.1 : kNan);
  EXPECT_THAT(first.read().values("val_loss"), ElementsAre(2.1, 2.1, 2.1, 2.1)) << "evaluated before the first step";
}

TEST(Gaps, AreNotMadeOfALossThatTurnsNan) {
  Table table("val_loss");
  for (int i = 0; i < 40; ++i) i < 20 ? table.row(2.0, 2.1) : table.row(kNan, kNan);
  EXPECT_EQ(nan_among(table.so_far().values("loss")), 20U) << "told at once";
  EXPECT_EQ(nan_among(table.read().values("val_loss")), 20U);
}

TEST(Gaps, AreNotMadeOfALossThatTurnsNanBetweenEvaluations) {
  Table table("val_loss");
  for (int i = 0; i < 60; ++i) table.row(i < 45 ? 2.0 : kNan, i % 10 == 9 && i < 45 ? 2.1 : kNan);
  EXPECT_EQ(nan_among(table.read().values("loss")), 15U);
}

TEST(Gaps, AreNotMadeOfNanFromTheStart) {
  Table table("accuracy");
  for (int i = 0; i < 10; ++i) table.row(kNan, 0.1);
  EXPECT_EQ(nan_among(table.so_far().values("loss")), 10U);
}

TEST(Gaps, AreNotMadeOfASingleNanInAFullTable) {
  Table table("val_loss", "epoch");
  for (int i = 0; i < 10; ++i) table.row(2.0, i == 6 ? kNan : 2.1);
  EXPECT_EQ(nan_among(table.read().values("val_loss")), 1U);
}

TEST(Gaps, AreNotMadeOfValidationThatIsNanInEveryEpoch) {
  Table table("val_loss", "epoch");
  for (int i = 0; i < 10; ++i) table.row(2.0, kNan);
  EXPECT_EQ(nan_among(table.read().values("val_loss")), 10U);
  Table steps("val_loss");
  for (int i = 0; i < 10; ++i) steps.row(2.0, kNan);
  EXPECT_EQ(nan_among(steps.read().values("val_loss")), 0U) << "by steps it was not measured yet";
}

TEST(Gaps, ThatOutlastAllOthersAreNan) {
  Table table("val_loss");
  for (int i = 0; i < 400; ++i) table.row(2.0, i % 10 == 9 && i < 100 ? 2.1 : kNan);
  EXPECT_GT(nan_among(table.so_far().values("val_loss")), 200U);
}

TEST(Gaps, AreNotMadeOfGradients) {
  Table table("grad_norm");
  for (int i = 0; i < 10; ++i) table.row(2.0, i % 2 == 0 ? kNan : 1.0);
  EXPECT_EQ(nan_among(table.read().values("grad_norm")), 5U);
}

}  // namespace
}  // namespace osler
