// Figures of experiments: what is drawn for each probe, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "osler/figures/figure.h"

namespace osler {
namespace {

using testing::HasSubstr;

std::string svg(const Experiment& experiment) {
  const Result<Figure> figure = experiment_figure(experiment);
  EXPECT_TRUE(figure) << (figure ? "" : describe(figure.error()));
  const Result<std::string> bytes = render(*figure, FigureType::svg);
  EXPECT_TRUE(bytes) << (bytes ? "" : describe(bytes.error()));
  return *bytes;
}

Experiment range_test() {
  Experiment experiment;
  experiment.probe = "lr-range-test";
  experiment.verdict = "A rate of 0.03 suits.";
  experiment.values = {{"suggestion", 0.03, 0.01, 0.08}, {"present", 0.5, {}, {}}, {"divergence", 2, {}, {}}};
  std::vector<double> rates;
  std::vector<double> losses;
  for (int i = 0; i < 100; ++i) {
    rates.push_back(1e-6 * std::pow(10, i * 7.0 / 99));
    losses.push_back(2.3 - 1.5 / (1 + std::exp(-3 * (std::log10(rates.back()) + 2))) + std::pow(rates.back() / 3, 3));
  }
  experiment.columns = {{"learning-rate", rates}, {"loss", losses}, {"smoothed", losses}};
  return experiment;
}

Experiment surface(int points, bool plane) {
  Experiment experiment;
  experiment.probe = "loss-surface";
  experiment.verdict = "No lower place was met.";
  Experiment::Column a{"a", {}};
  Experiment::Column b{"b", {}};
  Experiment::Column loss{"loss", {}};
  for (int k = 0; k < (plane ? points : 1); ++k) {
    for (int i = 0; i < points; ++i) {
      const double x = 2.0 * i / (points - 1) - 1;
      const double y = plane ? 2.0 * k / (points - 1) - 1 : 0;
      a.values.push_back(x);
      b.values.push_back(y);
      loss.values.push_back(0.2 + 3 * x * x + 0.5 * y * y + x * y);
    }
  }
  experiment.columns = plane ? std::vector{a, b, loss} : std::vector{a, loss};
  return experiment;
}

Experiment curvature() {
  Experiment experiment;
  experiment.probe = "curvature";
  experiment.verdict = "At a minimum.";
  experiment.checks = {{"conv1", {}, ""}, {"conv2", {}, ""}, {"head", {}, ""}};
  experiment.columns = {
      {"layer-top-eigenvalue", {12, 30, -0.2}}, {"layer-trace", {40, 90, 3}}, {"layer-trace-error", {4, 20, 0.5}}};
  return experiment;
}

TEST(ExperimentFigure, ShowsRatesWithTheirSuggestion) {
  const Result<Figure> figure = experiment_figure(range_test());
  ASSERT_TRUE(figure);
  ASSERT_EQ(figure->panels.size(), 1U);
  const auto& chart = std::get<figure::Chart>(figure->panels[0].content);
  EXPECT_TRUE(chart.log_x);
  ASSERT_EQ(chart.signs.size(), 3U);
  EXPECT_EQ(chart.signs[0].label, "suggested 0.03");
  EXPECT_EQ(chart.signs[0].low, 0.01);
  EXPECT_GT(svg(range_test()).size(), 2000U);
}

TEST(ExperimentFigure, ShowsASurfaceAsContourAndAsLine) {
  const Result<Figure> plane = experiment_figure(surface(9, true));
  ASSERT_TRUE(plane);
  ASSERT_EQ(plane->panels.size(), 2U);
  const auto& contour = std::get<figure::Contour>(plane->panels[0].content);
  EXPECT_EQ(contour.x.size(), 9U);
  EXPECT_EQ(contour.cells.size(), 81U);
  const auto& section = std::get<figure::Chart>(plane->panels[1].content);
  EXPECT_DOUBLE_EQ(section.curves[0].y[4], 0.2);
  EXPECT_GT(svg(surface(9, true)).size(), 5000U);
  const Result<Figure> line = experiment_figure(surface(9, false));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->panels.size(), 1U);
  static_cast<void>(svg(surface(9, false)));
}

TEST(ExperimentFigure, ShowsLayersAsBars) {
  const Result<Figure> figure = experiment_figure(curvature());
  ASSERT_TRUE(figure);
  ASSERT_EQ(figure->panels.size(), 2U);
  EXPECT_EQ(std::get<figure::Bars>(figure->panels[1].content).errors.size(), 3U);
  static_cast<void>(svg(curvature()));
}

TEST(ExperimentFigure, SurvivesNumbersThatAreNone) {
  Experiment broken = surface(5, true);
  broken.columns[2].values.assign(25, std::nan(""));
  static_cast<void>(svg(broken));
  Experiment rates = range_test();
  rates.columns[2].values.assign(100, HUGE_VAL);
  static_cast<void>(svg(rates));
}

TEST(ExperimentFigure, SaysWhatItCannotDraw) {
  Experiment list;
  list.probe = "checkup";
  EXPECT_THAT(experiment_figure(list).error().message, HasSubstr("is a list"));
  Experiment empty;
  empty.probe = "curvature";
  EXPECT_THAT(experiment_figure(empty).error().message, HasSubstr("nothing to draw"));
  Experiment crooked = surface(5, true);
  crooked.columns[2].values.pop_back();
  EXPECT_FALSE(experiment_figure(crooked));
}

}  // namespace
}  // namespace osler
