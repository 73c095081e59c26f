// What a small plot shows, and that it never hides what matters.
#include "report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/sample_reports.h"
#include "report/scale.h"
#include "report/text_sections.h"

namespace osler::layout {
namespace {

using samples::sketch;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> drawn(const Plot& plot, const TextOptions& options = {.width = 100}) {
  return draw(plot, Sheet(options), 2);
}

std::string joined(const std::vector<std::string>& lines) {
  return join(lines, "\n");
}

int braille_cells(const std::string& line) {
  int cells = 0;
  for (std::size_t at = line.find("\xe2\xa0"); at != std::string::npos; at = line.find("\xe2\xa0", at + 1)) ++cells;
  for (std::size_t at = line.find("\xe2\xa1"); at != std::string::npos; at = line.find("\xe2\xa1", at + 1)) ++cells;
  for (std::size_t at = line.find("\xe2\xa2"); at != std::string::npos; at = line.find("\xe2\xa2", at + 1)) ++cells;
  for (std::size_t at = line.find("\xe2\xa3"); at != std::string::npos; at = line.find("\xe2\xa3", at + 1)) ++cells;
  return cells;
}

TEST(Scale, IsLogarithmicForPositiveValuesOverDecades) {
  const Scale scale(1e-4, 10, 0.1);
  EXPECT_TRUE(scale.logarithmic());
  EXPECT_NEAR(scale.height(1e-4), 0, 1e-9);
  EXPECT_NEAR(scale.height(10), 1, 1e-9);
  EXPECT_NEAR(scale.height(0.1) - scale.height(0.01), 0.2, 1e-9);
}

TEST(Scale, IsLinearForOrdinaryRangesAndBelowZero) {
  EXPECT_FALSE(Scale(0.5, 2.5, 1).logarithmic());
  EXPECT_FALSE(Scale(-1, 1, 0.5).logarithmic());
  EXPECT_NEAR(Scale(-1, 1, 0.5).height(0), 0.5, 1e-9);
}

TEST(Scale, KeepsSmallMovementsVisibleBesideAGiantOfEitherSign) {
  const Scale scale(-9.8e7, 300, 100);
  EXPECT_TRUE(scale.logarithmic());
  EXPECT_GT(scale.height(300) - scale.height(-300), 0.1);
}

TEST(Scale, SurvivesTheEdgesOfDouble) {
  const double most = std::numeric_limits<double>::max();
  for (const Scale& scale : {Scale(-most, most, most), Scale(0, 0, 0), Scale(5, 5, 5), Scale(-most, most, 1),
                             Scale(std::numeric_limits<double>::denorm_min(), most, 1)}) {
    EXPECT_GE(scale.height(1), 0);
    EXPECT_LE(scale.height(1), 1);
    EXPECT_LE(scale.ticks(4).size(), 16u);
  }
}

TEST(Plot, NamesTheCurvesAtTheirEndsWithTheirLastValues) {
  const Report report = samples::overfitting_run();
  const std::string text = joined(drawn({{&report.sketches[0], &report.sketches[1]}, std::nullopt, 8}));
  EXPECT_THAT(text, HasSubstr("train/loss ≈0.032"));
  EXPECT_THAT(text, HasSubstr("val/loss ≈1.3"));
}

TEST(Plot, NamesBothCurvesEvenWhenTheyEndTogether) {
  const Sketch one = sketch("one", "train-loss", 50, 100, [](double) { return 1.0; });
  const Sketch two = sketch("two", "validation-loss", 50, 100, [](double) { return 1.0; });
  const std::string text = joined(drawn({{&one, &two}, std::nullopt, 5}));
  EXPECT_THAT(text, HasSubstr("one ≈1"));
  EXPECT_THAT(text, HasSubstr("two ≈1"));
}

TEST(Plot, LabelsTheAxes) {
  const Sketch loss = sketch("loss", "train-loss", 100, 123456, [](double x) { return 2.5 - 2 * x; });
  const std::vector<std::string> lines = drawn({{&loss}, std::nullopt, 8});
  EXPECT_THAT(joined(lines), HasSubstr("2 ┤"));
  EXPECT_THAT(joined(lines), HasSubstr("1 ┤"));
  EXPECT_THAT(lines.back(), HasSubstr("0 "));
  EXPECT_THAT(lines.back(), HasSubstr("123,456"));
}

TEST(Plot, LabelsValuesThatDifferOnlyInTheFourthDigit) {
  const Sketch loss = sketch("loss", "train-loss", 1, 0, [](double) { return 2.341; });
  Sketch flat = loss;
  flat.columns = {{0, 2.340, 2.342, 2.341, 0}, {10, 2.340, 2.342, 2.341, 0}};
  const std::string text = joined(drawn({{&flat}, std::nullopt, 8}));
  EXPECT_THAT(text, HasSubstr("2.342"));
  EXPECT_THAT(text, HasSubstr("2.34 ┤"));
}

TEST(Plot, MarksTheStepUnderTheCurve) {
  const Sketch loss = sketch("loss", "train-loss", 100, 1000, [](double x) { return 1 + x; });
  const std::vector<std::string> lines = drawn({{&loss}, PlotMark{500, "step 500", Ink::critical}, 6});
  const std::size_t mark = lines.back().find("▲ step 500");
  ASSERT_NE(mark, std::string::npos);
  const int axis = columns(lines[6].substr(0, lines[6].find("└")));
  const int width = columns(lines[6]) - axis - 2;
  EXPECT_NEAR(columns(lines.back().substr(0, mark)) - axis - 1, width / 2, 2);
}

TEST(Plot, TurnsTheMarkAroundAtTheRightEdge) {
  const Sketch loss = sketch("loss", "train-loss", 100, 1000, [](double x) { return 1 + x; });
  const std::vector<std::string> lines = drawn({{&loss}, PlotMark{1000, "step 1,000", Ink::critical}, 6});
  EXPECT_THAT(joined(lines), HasSubstr("step 1,000 ▲"));
  EXPECT_THAT(lines.back(), HasSubstr("1,000")) << "the last step keeps its own line";
}

TEST(Plot, NeverHidesASpikeOfOneColumn) {
  Sketch loss = sketch("loss", "train-loss", 300, 3000, [](double) { return 1.0; });
  for (Sketch::Column& column : loss.columns) column.low = column.high = column.mean;
  EXPECT_EQ(braille_cells(drawn({{&loss}, std::nullopt, 6}).front()), 0);
  loss.columns[150].high = 50;  // the mean stays where it was
  EXPECT_GE(braille_cells(drawn({{&loss}, std::nullopt, 6}).front()), 1);
}

TEST(Plot, CrossesOutStepsThatAreNotFiniteAndDoesNotDrawThroughThem) {
  const Report report = samples::nan_run();
  const std::vector<std::string> lines = drawn({{&report.sketches[0]}, std::nullopt, 6});
  EXPECT_THAT(lines[6], HasSubstr("××××××"));
  EXPECT_THAT(lines[6], HasSubstr("NaN or Inf"));
  const auto level = [](double x) { return x > 0.3 && x < 0.7 ? std::nan("") : x < 0.5 ? 1.0 : 2.0; };
  const Sketch gap = sketch("loss", "train-loss", 101, 100, level);
  const auto half = [](double x) { return x < 0.5 ? 1.0 : 2.0; };
  const Sketch whole = sketch("loss", "train-loss", 101, 100, half);
  // A curve that jumps has dots between the two levels; one that is cut off has none.
  EXPECT_GT(braille_cells(drawn({{&whole}, std::nullopt, 9})[4]), 0);
  EXPECT_EQ(braille_cells(drawn({{&gap}, std::nullopt, 9})[4]), 0);
}

TEST(Plot, IsEmptyWhenThereIsNoCurve) {
  const Sketch point = sketch("loss", "train-loss", 1, 0, [](double) { return 1.0; });
  EXPECT_TRUE(drawn({{&point}, std::nullopt, 6}).empty());
  const Sketch loss = sketch("loss", "train-loss", 10, 100, [](double) { return std::nan(""); });
  EXPECT_TRUE(drawn({{&loss}, std::nullopt, 6}).empty());
  EXPECT_TRUE(drawn({{}, std::nullopt, 6}).empty());
}

TEST(Plot, FitsEveryWidthInBothAlphabets) {
  const Report report = samples::overfitting_run();
  const Report hostile = samples::hostile_run();
  for (int width = 40; width <= 130; width += 3) {
    for (const bool unicode : {true, false}) {
      const TextOptions options{.unicode = unicode, .width = width};
      for (const std::vector<const Sketch*>& curves :
           {std::vector{&report.sketches[0], &report.sketches[1]}, std::vector{&hostile.sketches[0]}}) {
        for (const std::int64_t step : {0, 40, 5000, 9999}) {
          for (const std::string& line : drawn({curves, PlotMark{step, "step", Ink::warning}, 7}, options)) {
            EXPECT_LE(columns(line), std::min(width, kWidest)) << line;
          }
        }
      }
    }
  }
}

TEST(Plot, DrawsInPlainAsciiOnRequest) {
  const Report report = samples::overfitting_run();
  const std::string text =
      joined(drawn({{&report.sketches[0], &report.sketches[1]}, std::nullopt, 8}, {.unicode = false}));
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char sign) { return static_cast<unsigned char>(sign) < 0x80; }));
  EXPECT_THAT(text, HasSubstr("*"));
  EXPECT_THAT(text, HasSubstr("o"));
}

TEST(Sparkline, ShowsTheHighestOfEachCellAndCrossesWhatIsNotFinite) {
  Sketch norm = sketch("norm", "gradient-norm", 40, 39, [](double x) { return x > 0.8 ? std::nan("") : 1.0; });
  norm.columns[20].high = 5000;
  const std::string line = sparkline(norm, 10, true);
  EXPECT_EQ(columns(line), 10);
  EXPECT_THAT(line, StartsWith("▁"));
  EXPECT_THAT(line, HasSubstr("█"));
  EXPECT_THAT(line, testing::EndsWith("×"));
}

}  // namespace
}  // namespace osler::layout
