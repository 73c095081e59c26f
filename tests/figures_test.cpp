// Figures of real cases: what is marked where, that no spike is lost, and that every kind can be drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "osler/diagnosis/diagnose.h"
#include "osler/figures/figure.h"
#include "osler/formats/read.h"
#include "svg.h"

namespace osler {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;
using ::testing::StartsWith;
using tests::SvgPath;

// The light theme's colours as Cairo writes them.
constexpr std::string_view kFirstCurve = "stroke:rgb(0%,44.705882%,69.803922%)";
constexpr std::string_view kWarning = "stroke:rgb(72.54902%,49.411765%,0%)";
constexpr std::string_view kMeanWidth = "stroke-width:1.5;";
constexpr std::string_view kLegendWidth = "stroke-width:2;";
constexpr std::string_view kDashed = "stroke-dasharray:5,3.5";

struct Examined {
  osler::Run run;
  Report report;
};

Examined examined(Run run) {
  auto report = diagnose(run);
  EXPECT_TRUE(report);
  return {std::move(run), std::move(*report)};
}

Examined examined_case(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(OSLER_CASES) / file;
  const auto sources = discover(real_file_system(), path);
  EXPECT_TRUE(sources) << file;
  auto run = read_run(real_file_system(), sources->front());
  EXPECT_TRUE(run) << file;
  return examined(std::move(*run));
}

std::string svg_of(const Result<Figure>& figure, const FigureStyle& style = {}) {
  EXPECT_TRUE(figure) << describe(figure.error());
  const auto svg = render(*figure, FigureType::svg, style);
  EXPECT_TRUE(svg);
  return *svg;
}

std::vector<SvgPath> with(const std::vector<SvgPath>& paths, std::string_view colour, std::string_view property) {
  std::vector<SvgPath> found;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(found),
               [&](const SvgPath& path) { return path.has(colour) && path.has(property); });
  return found;
}

/// The x of every upright line in a colour, each once.
std::vector<double> uprights(const std::vector<SvgPath>& paths, std::string_view colour) {
  std::vector<double> xs;
  for (const SvgPath& path : with(paths, colour, kDashed)) {
    if (path.upright() && std::find(xs.begin(), xs.end(), path.places[0].x) == xs.end()) xs.push_back(path.places[0].x);
  }
  return xs;
}

/// Where a step lies on the page: the longest curve goes from the first to the last step.
double x_of(const std::vector<SvgPath>& paths, const Figure& figure, double step) {
  const auto curves = with(paths, kFirstCurve, kMeanWidth);
  const auto longest = std::max_element(curves.begin(), curves.end(), [](const SvgPath& a, const SvgPath& b) {
    return a.places.size() < b.places.size();
  });
  const double left = longest->places.front().x;
  const double right = longest->places.back().x;
  const auto first = static_cast<double>(figure.first_step);
  return left + (right - left) * (step - first) / (static_cast<double>(figure.last_step) - first);
}

TEST(Figures, MarkAFindingAtItsStep) {
  const Examined sick = examined_case("overfitting/sick-classic.csv");
  const auto figure = curves_figure(sick.run, sick.report);
  const auto paths = tests::paths_of(svg_of(figure));
  const auto finding = std::find_if(sick.report.findings.begin(), sick.report.findings.end(),
                                    [](const Observation& one) { return one.finding == "overfitting"; });
  ASSERT_NE(finding, sick.report.findings.end());
  const double expected = x_of(paths, *figure, static_cast<double>(finding->first_step));
  EXPECT_THAT(uprights(paths, kWarning), testing::Contains(DoubleNear(expected, 0.1)));
}

TEST(Figures, MarkEverySingleStepOfTheEvidence) {
  const Examined sick = examined_case("loss-spikes/sick-three.csv");
  const auto figure = finding_figure(sick.run, sick.report, "loss-spikes");
  const auto paths = tests::paths_of(svg_of(figure));
  std::vector<double> expected;
  for (const double step : {800.0, 1710.0, 2400.0}) expected.push_back(x_of(paths, *figure, step));
  EXPECT_THAT(uprights(paths, kWarning), Pointwise(DoubleNear(0.1), expected));
}

TEST(Figures, ShowASpikeOfOnePointAtAnySize) {
  constexpr std::int64_t kSteps = 200'000;
  constexpr std::int64_t kSpike = 123'457;
  osler::Run run;
  const SeriesId loss = run.series("train/loss");
  for (std::int64_t step = 0; step < kSteps; ++step) {
    run.add(Event{loss, step, kNoTime, step == kSpike ? 40.0 : 1 + 0.1 * std::sin(static_cast<double>(step))});
  }
  const Examined sick = examined(std::move(run));
  for (const int width : {320, 960, 4000}) {
    const auto figure = curves_figure(sick.run, sick.report, {});
    FigureStyle style;
    style.width = width;
    const auto paths = tests::paths_of(svg_of(figure, style));
    const double expected = x_of(paths, *figure, kSpike);
    tests::SvgPlace highest{0, HUGE_VAL};
    double lowest = 0;
    for (const SvgPath& path : paths) {
      if (!path.has(kFirstCurve) || path.has(kLegendWidth)) continue;
      for (const tests::SvgPlace& place : path.places) {
        if (place.y < highest.y) highest = place;
        lowest = std::max(lowest, place.y);
      }
    }
    // The first and last mean stand half a bucket inside of the axis.
    EXPECT_NEAR(highest.x, expected, 2.0) << width;
    EXPECT_GT(lowest - highest.y, 100) << width;
  }
}

TEST(Figures, CrossOutWhatIsNotFinite) {
  const Examined sick = examined_case("loss-nonfinite-later/sick-sudden.csv");
  const auto figure = curves_figure(sick.run, sick.report);
  const auto paths = tests::paths_of(svg_of(figure));
  const Bucket total = *sick.run.all_series().front().summary().total();
  ASSERT_GT(total.nonfinite, 0U);
  const double from = x_of(paths, *figure, static_cast<double>(total.first_nonfinite_step));
  std::size_t crosses = 0;
  for (const SvgPath& path : with(paths, kFirstCurve, "stroke-width:1.4;")) {
    ++crosses;
    EXPECT_GE(path.places.back().x, from - 6);
  }
  EXPECT_GT(crosses, 2U);
}

TEST(Figures, PointAtRestarts) {
  osler::Run run;
  const SeriesId loss = run.series("loss");
  for (std::int64_t step = 0; step < 100; ++step) run.add(Event{loss, step, kNoTime, 100.0 / (step + 20.0)});
  run.add(Mark{Mark::Kind::restart, 60, kNoTime, "resumed"});
  const Examined patient = examined(std::move(run));
  const auto figure = curves_figure(patient.run, patient.report);
  const auto paths = tests::paths_of(svg_of(figure));
  const double expected = x_of(paths, *figure, 60);
  const bool dotted = std::any_of(paths.begin(), paths.end(), [&](const SvgPath& path) {
    return path.has("stroke-linecap:round") && path.upright() && std::fabs(path.places[0].x - expected) < 0.1;
  });
  EXPECT_TRUE(dotted);
}

TEST(Figures, DrawLayersBetweenTheLinesOfVanishingAndExploding) {
  const Examined sick = examined_case("vanishing-by-depth/sick-seven-decades.csv");
  const auto figure = gradients_figure(sick.run, sick.report);
  ASSERT_TRUE(figure);
  EXPECT_THAT(std::get<figure::Lines>(figure->panels.front().content).lines, SizeIs(8));
  const auto paths = tests::paths_of(svg_of(figure));
  std::vector<double> levels;
  for (const SvgPath& path : paths) {
    if (path.has(kDashed) && path.places.size() == 2 && path.places[0].y == path.places[1].y) {
      levels.push_back(path.places[0].y);
    }
  }
  ASSERT_THAT(levels, SizeIs(2));  // 1e-7 and 100, nine decades apart
  const double decade = (levels[0] - levels[1]) / 9;
  std::vector<double> starts;
  for (const SvgPath& path : paths) {
    if (path.has(kMeanWidth) && path.places.size() == 60) starts.push_back((levels[1] - path.places[0].y) / decade);
  }
  ASSERT_THAT(starts, SizeIs(8));
  for (std::size_t layer = 0; layer < 8; ++layer) {  // the norms are 1e-8, 1e-7, ... 0.1
    EXPECT_NEAR(starts[layer], -10 + static_cast<double>(layer), 0.2);
  }
}

TEST(Figures, MapLayersByTime) {
  const Examined sick = examined_case("gradient-nonfinite/sick-layer.csv");
  const auto figure = heatmap_figure(sick.run, sick.report);
  ASSERT_TRUE(figure);
  const auto& map = std::get<figure::HeatMap>(figure->panels.front().content);
  EXPECT_THAT(map.rows, ElementsAre("layers.0.weight", "layers.1.weight", "layers.2.weight", "layers.3.weight"));
  const std::size_t columns = map.edges.size() - 1;
  ASSERT_EQ(map.cells.size(), 4 * columns);
  // The last layer is not finite from step 450 of 590 on.
  EXPECT_TRUE(std::isfinite(map.cells[3 * columns]));
  EXPECT_TRUE(std::isinf(map.cells[4 * columns - 1]));
  EXPECT_TRUE(std::isfinite(map.cells[3 * columns - 1]));
  EXPECT_THAT(svg_of(figure), HasSubstr("fill:rgb(83.529412%,36.862745%,0%)"));
}

TEST(Figures, DrawDistributionsAsRidges) {
  osler::Run run;
  const SeriesId weights = run.series("weights/fc");
  for (int step = 0; step < 30; ++step) {
    Histogram histogram;
    histogram.series = weights;
    histogram.step = step;
    histogram.min = -1;
    histogram.max = 1 + step;
    histogram.limits = {-0.5, 0, 0.5, 1.0 + step, std::numeric_limits<double>::max()};
    histogram.counts = {1, 5, 5, 2, 0};
    histogram.count = 13;
    run.distribution(histogram);
  }
  const Examined patient = examined(std::move(run));
  const auto figure = ridge_figure(patient.run, patient.report);
  ASSERT_TRUE(figure) << describe(figure.error());
  const auto& ridge = std::get<figure::Ridge>(figure->panels.front().content);
  EXPECT_THAT(ridge.rows, SizeIs(24));
  EXPECT_EQ(ridge.rows.front().step, 0);
  EXPECT_EQ(ridge.rows.back().step, 29);
  EXPECT_THAT(ridge.rows.front().edges, ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(svg_of(figure), HasSubstr("</svg>"));
}

TEST(Figures, ShowTheEvidenceOfEveryFindingInItsCases) {
  std::size_t drawn = 0;
  for (const auto& [stem, finding] : findings()) {
    const std::string id(finding.id);
    const auto folder = std::filesystem::path(OSLER_CASES) / id;
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with("sick")) continue;
      const Examined sick = examined_case(id + "/" + file);
      const auto figure = finding_figure(sick.run, sick.report, id);
      ASSERT_TRUE(figure) << id << "/" << file << ": " << describe(figure.error());
      EXPECT_EQ(figure->pointers.front().label.find(id), 0U);
      const std::string svg = svg_of(figure);
      EXPECT_THAT(svg, StartsWith("<?xml"));
      EXPECT_THAT(svg, HasSubstr("<title>"));
      ++drawn;
    }
  }
  EXPECT_GT(drawn, 40U);
}

TEST(Figures, AreFilesOfTheirTypeAndSize) {
  const Examined sick = examined_case("overfitting/sick-classic.csv");
  const auto figure = overview_figure(sick.run, sick.report);
  ASSERT_TRUE(figure);
  FigureStyle style;
  style.width = 500;
  style.height = 300;
  style.scale = 1.5;
  const auto png = render(*figure, FigureType::png, style);
  ASSERT_TRUE(png);
  EXPECT_THAT(*png, StartsWith("\x89PNG\r\n"));
  const auto big_endian = [&png](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>((*png)[at + i]);
    return value;
  };
  EXPECT_EQ(big_endian(16), 750U);
  EXPECT_EQ(big_endian(20), 450U);
  const auto pdf = render(*figure, FigureType::pdf, style);
  ASSERT_TRUE(pdf);
  EXPECT_THAT(*pdf, StartsWith("%PDF-"));
  EXPECT_THAT(*pdf, HasSubstr("%%EOF"));
  EXPECT_THAT(svg_of(figure, style), HasSubstr("width=\"500px\" height=\"300px\""));
}

TEST(Figures, SayWhatIsMissing) {
  const Examined sick = examined_case("overfitting/sick-classic.csv");
  EXPECT_THAT(describe(heatmap_figure(sick.run, sick.report).error()), HasSubstr("no statistics per layer"));
  EXPECT_THAT(describe(gradients_figure(sick.run, sick.report).error()), HasSubstr("no gradient norm"));
  EXPECT_THAT(describe(ridge_figure(sick.run, sick.report).error()), HasSubstr("no histograms"));
  EXPECT_THAT(describe(finding_figure(sick.run, sick.report, "dead-layer").error()), HasSubstr("dead-layer"));
  FigureWish wish;
  wish.from = 1000;
  EXPECT_THAT(describe(curves_figure(sick.run, sick.report, wish).error()), HasSubstr("steps 1 to 50"));
  wish = {};
  wish.series = {"nothing"};
  EXPECT_EQ(curves_figure(sick.run, sick.report, wish).error().code, ErrorCode::not_found);
}

TEST(Figures, RefuseSizesThatCannotBe) {
  const Figure nothing;
  for (const FigureStyle& style :
       {FigureStyle{FigureTheme::light, 10, 0, 2}, FigureStyle{FigureTheme::light, 960, 5, 2},
        FigureStyle{FigureTheme::light, 960, 0, 100}}) {
    EXPECT_FALSE(render(nothing, FigureType::png, style));
  }
}

TEST(Figures, ShowOnlyTheStepsAskedFor) {
  const Examined sick = examined_case("loss-spikes/sick-three.csv");
  FigureWish wish;
  wish.from = 1000;
  wish.to = 2000;
  const auto figure = curves_figure(sick.run, sick.report, wish);
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->first_step, 1000);
  EXPECT_EQ(figure->last_step, 2000);
  const auto& lines = std::get<figure::Lines>(figure->panels.front().content).lines;
  EXPECT_THAT(lines.front().buckets,
              Each(testing::Field(&Bucket::first_step, testing::AllOf(testing::Ge(990), testing::Le(2000)))));
}

TEST(Figures, StayHarmlessWithHostileNames) {
  osler::Run run;
  run.name = "<script>alert(1)</script>\x1b[31m" + std::string(1 << 20, 'x');
  for (const std::string& name :
       {std::string("loss"), std::string("val/loss</desc><script>\xff\n"), std::string(1 << 20, 'y') + "_loss"}) {
    const SeriesId id = run.series(name);
    for (std::int64_t step = 0; step < 50; ++step)
      run.add(Event{id, step * 1'000'000'000'000'000, kNoTime, step % 7 * 1e300});
  }
  const Examined patient = examined(std::move(run));
  for (const auto draw : {curves_figure, overview_figure}) {
    const std::string svg = svg_of(draw(patient.run, patient.report, {}));
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_LT(svg.size(), 1U << 20);
  }
  EXPECT_TRUE(render_report(patient.run, patient.report, FigureType::pdf));
}

TEST(Figures, WriteTheDiagnosisOnAtMostTwoPages) {
  for (const char* file : {"loss-nonfinite-later/sick-after-growth.csv", "overfitting/healthy-dropout.csv",
                           "updates-too-small/sick-all-layers.csv", "loss-stuck-from-start/healthy-short.csv"}) {
    const Examined patient = examined_case(file);
    const auto pdf = render_report(patient.run, patient.report, FigureType::pdf);
    ASSERT_TRUE(pdf) << file;
    EXPECT_THAT(*pdf, StartsWith("%PDF-"));
    EXPECT_TRUE(pdf->find("/Count 1") != std::string::npos || pdf->find("/Count 2") != std::string::npos) << file;
    const auto png = render_report(patient.run, patient.report, FigureType::png, FigureTheme::dark);
    ASSERT_TRUE(png) << file;
    EXPECT_THAT(*png, StartsWith("\x89PNG\r\n"));
  }
}

}  // namespace
}  // namespace osler
