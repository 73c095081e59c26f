// The JSON report keeps its contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "osler/report/render.h"
#include "osler/run/role.h"
#include "report/sample_reports.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const Report& report) {
  return Json::parse(render_json(report));
}

TEST(JsonReport, IsValidUnderTheSchemaForEverySample) {
  const nlohmann::json schema = tests::report_schema();
  for (const Report& report : {samples::nan_run(), samples::overfitting_run(), samples::healthy_run(),
                               samples::insufficient_run(), samples::crowded_run(), samples::hostile_run(), Report{}}) {
    EXPECT_EQ(tests::schema_complaints(render_json(report), schema), "") << report.run_name;
  }
}

TEST(JsonReport, OfSeveralRunsIsValidToo) {
  const std::vector<Report> reports = {samples::nan_run(), samples::healthy_run()};
  const std::string text = render_json(reports);
  EXPECT_EQ(tests::schema_complaints(text, tests::report_schema()), "");
  const Json json = Json::parse(text);
  EXPECT_EQ(json["schema"], "osler-report/1");
  EXPECT_EQ(json["reports"].size(), 2u);
  EXPECT_EQ(tests::schema_complaints(render_json(std::span<const Report>{}), tests::report_schema()), "");
}

TEST(JsonReport, HasLayersAndWhatWasComputedWhereTheyWereAskedFor) {
  Report report = samples::healthy_run();
  EXPECT_FALSE(parsed(report).contains("layers"));
  EXPECT_FALSE(parsed(report).contains("computed"));
  report.computed["gradient-norm"] = "gradient norm (computed from 2 layers)";
  LayerRow sick;
  sick.layer = "fc1.weight";
  sick.kind = "weight";
  sick.gradient_norm = std::nan("");
  sick.gradient_course = {0.5, std::nan("")};
  sick.status = "not finite";
  sick.why = "NaN from step 10 on";
  sick.finding = "gradient-nonfinite";
  sick.severity = Severity::critical;
  LayerRow well;
  well.layer = "fc2.weight";
  well.kind = "weight";
  report.layers = LayerTable{{sick, well}, {{"gradient_norm", 1, 0.1, 0.1, 0.1, "fc2.weight", "fc2.weight"}}};
  const std::string text = render_json(report);
  EXPECT_EQ(tests::schema_complaints(text, tests::report_schema()), "");
  const Json json = Json::parse(text);
  EXPECT_EQ(json["layers"]["rows"][0]["gradient_norm"], "nan");
  EXPECT_EQ(json["layers"]["rows"][0]["finding"], "gradient-nonfinite");
  EXPECT_TRUE(json["layers"]["rows"][1]["gradient_norm"].is_null());
  EXPECT_EQ(json["layers"]["spans"]["gradient_norm"]["lowest_layer"], "fc2.weight");
  EXPECT_EQ(json["computed"]["gradient-norm"], "gradient norm (computed from 2 layers)");
}

TEST(JsonReport, SchemaRejectsWhatTheContractDoesNotName) {
  const nlohmann::json schema = tests::report_schema();
  Json extra = parsed(samples::nan_run());
  extra["findings"][0]["colour"] = "red";
  EXPECT_NE(tests::schema_complaints(extra.dump(), schema), "");
  Json missing = parsed(samples::nan_run());
  missing.erase("status");
  EXPECT_NE(tests::schema_complaints(missing.dump(), schema), "");
  Json wrong = parsed(samples::nan_run());
  wrong["causes"][0]["probability"] = 1.5;
  EXPECT_NE(tests::schema_complaints(wrong.dump(), schema), "");
  EXPECT_NE(tests::schema_complaints("{}", schema), "");
}

TEST(JsonReport, SchemaNamesEveryRole) {
  const nlohmann::json roles = tests::report_schema()["definitions"]["roles"]["properties"];
  std::size_t known = 0;
  for (int i = 0; i <= static_cast<int>(Role::other); ++i, ++known) {
    EXPECT_TRUE(roles.contains(std::string(to_string(static_cast<Role>(i))))) << to_string(static_cast<Role>(i));
  }
  EXPECT_EQ(roles.size(), known);
}

TEST(JsonReport, HasTheFieldsOfTheContract) {
  const Json json = parsed(samples::nan_run());
  EXPECT_EQ(json["schema"], "osler-report/1");
  EXPECT_EQ(json["run"]["name"], "runs/exp42");
  EXPECT_EQ(json["run"]["steps"]["count"], 10000);
  EXPECT_EQ(json["status"], "critical");
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["id"], "loss-nonfinite-later");
  EXPECT_EQ(finding["severity"], "critical");
  EXPECT_EQ(finding["confidence"], 0.998);
  EXPECT_EQ(finding["first_step"], 4102);
  EXPECT_EQ(finding["evidence"][0]["steps"], Json({4102, 9999}));
  const Json& cause = json["causes"][0];
  EXPECT_EQ(cause["id"], "lr-too-high");
  EXPECT_EQ(cause["for"][0]["finding"], "exploding-gradients");
  EXPECT_EQ(cause["against"][0]["weight"], 0.6);
  EXPECT_EQ(cause["settle"]["probe"], "lr-range-test");
  EXPECT_EQ(cause["remedies"][1]["change"], Json({{"name", "lr"}, {"from", "0.1"}, {"to", "0.01"}}));
  EXPECT_EQ(cause["remedies"][2]["change"]["from"], nullptr);
  EXPECT_EQ(json["ruled_out"][0]["id"], "fp16-overflow");
  EXPECT_EQ(json["checks"]["ran"].size(), 8u);
  EXPECT_EQ(json["checks"]["not_run"][0]["reason"], "the log has no statistics per layer");
}

TEST(JsonReport, WritesNonFiniteNumbersAsStrings) {
  Report report = samples::nan_run();
  report.metrics = {{"a", std::nan("")}, {"b", HUGE_VAL}, {"c", -HUGE_VAL}, {"d", 0.5}};
  report.findings[0].evidence[0].observed = HUGE_VAL;
  const Json json = parsed(report);
  EXPECT_EQ(json["metrics"], Json({{"a", "nan"}, {"b", "inf"}, {"c", "-inf"}, {"d", 0.5}}));
  EXPECT_EQ(json["findings"][0]["evidence"][0]["observed"], "inf");
}

TEST(JsonReport, WritesAThresholdThatDoesNotExistAsNull) {
  EXPECT_TRUE(parsed(samples::nan_run())["findings"][0]["evidence"][1]["threshold"].is_null());
}

TEST(JsonReport, WritesOneSeriesAsAStringAndSeveralAsAnArray) {
  Report report = samples::healthy_run();
  report.roles = {{"train-loss", {"loss"}}, {"validation-loss", {"val_a", "val_b"}}, {"reward", {}}};
  EXPECT_EQ(parsed(report)["roles"], Json({{"train-loss", "loss"}, {"validation-loss", {"val_a", "val_b"}}}));
}

TEST(JsonReport, TellsOfMarksAndDamage) {
  Report report = samples::healthy_run();
  report.marks = {{Mark::Kind::restart, 500, kNoTime, "resumed"}};
  report.damage.add({"run.csv", 812, 17, "not a number", 40});
  const Json json = parsed(report);
  EXPECT_EQ(json["marks"][0], Json({{"kind", "restart"}, {"step", 500}, {"text", "resumed"}}));
  EXPECT_EQ(json["damage"]["total"], 1);
  EXPECT_EQ(json["damage"]["places"][0]["line"], 17);
}

TEST(JsonReport, MeasuresComeWithTheirPlaceAmongHealthyRuns) {
  const nlohmann::json measures = nlohmann::json::parse(render_json(samples::nan_run()))["measures"];
  ASSERT_EQ(measures.size(), 2U);
  EXPECT_EQ(measures[0]["id"], "gradient-norm");
  EXPECT_EQ(measures[0]["quantile"], 0.998);
  EXPECT_EQ(measures[0]["runs"], 2310);
  EXPECT_EQ(measures[0]["text"], "gradient norm 924: above 99.8 % of 2,310 healthy classifiers");
  EXPECT_TRUE(measures[1]["quantile"].is_null()) << "no healthy runs to compare with";
}

}  // namespace
}  // namespace osler
