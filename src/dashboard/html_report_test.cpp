// The HTML report as a file: it stands alone, stays small, and runs nothing that a log put into it.
#include "osler/dashboard/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Run diverging(const std::string& name, int series = 1, int steps = 400) {
  Run run;
  run.name = name;
  run.format = "csv";
  for (int i = 0; i < series; ++i) {
    const SeriesId id = run.series(i == 0 ? "train_loss" : "other/" + std::to_string(i));
    for (int step = 0; step < steps; ++step) {
      const double noise = 0.01 * static_cast<double>((step * 7919LL) % 13);
      run.add(Event{id, step, kNoTime, step < steps / 4 ? 2.0 - 0.01 * step + noise : 60 + noise * 100});
    }
  }
  return run;
}

void add(HtmlReport& html, const Run& run) {
  const auto report = diagnose(run);
  ASSERT_TRUE(report);
  html.add(run, *report);
}

/// What was written into the page for its script to read.
nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

class HtmlReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_dashboard()) GTEST_SKIP() << "this build has no web pages: Node or npm was missing";
  }
};

TEST_F(HtmlReportTest, HoldsTheReportAndItsSeries) {
  HtmlReport html(1);
  add(html, diverging("run.csv"));
  const auto page = html.text();
  ASSERT_TRUE(page);
  const auto data = data_of(*page);
  EXPECT_EQ(data.at("runs").at(0).at("status"), "critical");
  EXPECT_GT(data.at("made").get<double>(), 1.7e9);  // seconds since 1970
  const auto& detail = data.at("details").at("1");
  EXPECT_EQ(detail.at("report").at("schema"), "osler-report/1");
  EXPECT_EQ(detail.at("series").at("train_loss").at("mean").size(), 400U);
  const std::string finding = detail.at("report").at("findings").at(0).at("id");
  std::size_t pages = 0;
  for (const auto& entry : data.at("catalogue").at("findings")) {
    pages += entry.at("id") == finding && entry.contains("doc") ? 1 : 0;
  }
  EXPECT_EQ(pages, 1U);
}

TEST_F(HtmlReportTest, AsksForNothingFromOutside) {
  HtmlReport html(1);
  add(html, diverging("run.csv"));
  const std::string page = *html.text();
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  for (const char* outside : {"<link", "src=\"http", "@import", "url(http"}) EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST_F(HtmlReportTest, IsNotLeftByNamesThatEndTheScript) {
  HtmlReport html(1);
  osler::Run run = diverging("</script><script>alert(1)</script><!--");
  run.config("note", "]]></script><img src=x onerror=alert(1)>");
  add(html, run);
  const std::string page = *html.text();
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_EQ(data_of(page).at("runs").at(0).at("name"), "</script><script>alert(1)</script><!--");
}

TEST_F(HtmlReportTest, StaysSmallHoweverLongAndWideTheRunIs) {
  HtmlReport html(1);
  add(html, diverging("wide", 3000, 300));
  EXPECT_LT(html.text()->size(), 5U << 20U);
  HtmlReport other(1);
  add(other, diverging("long", 1, 2'000'000));
  EXPECT_LT(other.text()->size(), 1U << 20U);
}

TEST_F(HtmlReportTest, KeepsTheSickWhenThereIsNoRoomForAll) {
  constexpr int kRuns = 60;
  HtmlReport html(kRuns, 1U << 19U);
  osler::Run well;
  well.name = "well";
  const SeriesId loss = well.series("train_loss");
  for (int step = 0; step < 400; ++step) well.add(Event{loss, step, kNoTime, 2.0 / (1 + step) + 0.001 * (step % 7)});
  for (int i = 0; i < kRuns - 1; ++i) add(html, well);
  add(html, diverging("sick"));
  const auto data = data_of(*html.text());
  EXPECT_EQ(data.at("runs").size(), static_cast<std::size_t>(kRuns));
  EXPECT_LT(data.at("details").size(), static_cast<std::size_t>(kRuns));
  EXPECT_TRUE(data.at("details").contains(std::to_string(kRuns)));
}

TEST(HtmlReportWithoutPages, SaysWhatIsMissing) {
  if (has_dashboard()) GTEST_SKIP() << "this build has its web pages";
  const auto page = HtmlReport(1).text();
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("Node"));
}

}  // namespace
}  // namespace osler
