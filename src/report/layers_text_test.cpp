// How a table of layers looks on terminals of different widths.
#include <gtest/gtest.h>

#include <sstream>

#include "osler/report/layers.h"
#include "report/layout.h"

namespace osler {
namespace {

LayerRow row(const std::string& layer, double norm, const std::string& kind = "weight") {
  LayerRow row;
  row.layer = layer;
  row.kind = kind;
  row.gradient_norm = norm;
  row.weight_norm = 12.5;
  row.gradient_ratio = norm / 12.5;
  row.gradient_course.assign(24, norm);
  return row;
}

Report with_layers() {
  LayerTable table;
  table.rows = {row("encoder.layers.0.self_attention.weight", 0.3),
                row("encoder.layers.0.self_attention.bias", 0.01, "bias"),
                row("encoder.layers.1.self_attention.weight", 80), row("head.weight", 0.4)};
  LayerRow& sick = table.rows[2];
  sick.status = "exploding";
  sick.why = "now 80, first 0.3; the middle of 19 others is 0.3";
  sick.finding = "exploding-layer";
  sick.severity = Severity::warning;
  table.spans = {{"gradient_norm", 3, 0.3, 0.4, 80, "encoder.layers.0.self_attention.weight",
                  "encoder.layers.1.self_attention.weight"}};
  Report report;
  report.layers = table;
  return report;
}

TEST(RenderLayers, FitsEveryWidth) {
  for (int width = 40; width <= 120; ++width) {
    for (const bool unicode : {true, false}) {
      TextOptions options;
      options.width = width;
      options.unicode = unicode;
      std::istringstream lines(render_layers(with_layers(), options));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(layout::columns(line), width) << line;
    }
  }
}

TEST(RenderLayers, SaysWhichLayerIsWrongAndWhy) {
  const std::string text = render_layers(with_layers());
  EXPECT_NE(text.find("4 layers from input to output, 1 not ok"), std::string::npos) << text;
  EXPECT_NE(text.find("exploding"), std::string::npos) << text;
  EXPECT_NE(text.find("the middle of 19 others is 0.3"), std::string::npos) << text;
  for (const char* word : {"lowest", "median", "highest", "head.weight"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

TEST(RenderLayers, BiasesThatAreWellAreShownOnRequest) {
  TextOptions options;
  options.width = 120;
  EXPECT_EQ(render_layers(with_layers(), options).find(".bias"), std::string::npos);
  options.verbose = true;
  EXPECT_NE(render_layers(with_layers(), options).find(".bias"), std::string::npos);
}

TEST(RenderLayers, ColourOnlyWhereItIsWanted) {
  TextOptions options;
  EXPECT_EQ(render_layers(with_layers(), options).find('\x1b'), std::string::npos);
  options.colour = true;
  EXPECT_NE(render_layers(with_layers(), options).find('\x1b'), std::string::npos);
}

TEST(RenderLayers, PlainAsciiWhereUnicodeIsNotWanted) {
  TextOptions options;
  options.unicode = false;
  for (const char c : render_layers(with_layers(), options)) EXPECT_GE(c, 0);
}

TEST(RenderLayers, NamesCannotWriteControlCharacters) {
  Report report = with_layers();
  report.layers->rows[0].layer = "evil\x1b[2J";
  report.layers->rows[2].why = "so\nso";
  const std::string text = render_layers(report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("so\nso"), std::string::npos);
}

TEST(RenderLayers, ARunWithoutLayersIsToldHowToLogThem) {
  EXPECT_NE(render_layers(Report{}).find("grad_norm/LAYER"), std::string::npos);
}

}  // namespace
}  // namespace osler
