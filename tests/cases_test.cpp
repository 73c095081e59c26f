// Every case, made while building or written by hand: read it, diagnose it, compare with what is expected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cases/case.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/formats/read.h"

namespace osler::cases {
namespace {

const std::string kFolder = OSLER_CASES;

std::vector<Case> all_cases() {
  Result<std::vector<Case>> cases = read_cases(kFolder);
  return cases ? *cases : std::vector<Case>();
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.finding + "_" + info.param.file.substr(0, info.param.file.find('.'));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

/// What was found, for the message of a failing case.
std::string told(const Report& report) {
  std::string text;
  for (const Observation& seen : report.findings) {
    text += fmt::format("\n  {} {} ({:.2f}) from step {}: {}", to_string(seen.severity), seen.finding, seen.confidence,
                        seen.first_step, seen.summary);
  }
  return text.empty() ? "\n  nothing found" : text;
}

class CaseTest : public testing::TestWithParam<Case> {};

TEST_P(CaseTest, IsDiagnosedAsExpected) {
  const Case& expected = GetParam();
  ASSERT_NE(find_finding(expected.finding), nullptr) << "no finding of that name";
  const std::string path = kFolder + "/" + expected.finding + "/" + expected.file;
  const Result<std::vector<RunSource>> sources = discover(real_file_system(), path);
  ASSERT_TRUE(sources) << describe(sources.error());
  ASSERT_EQ(sources->size(), 1U);
  const Result<osler::Run> run = read_run(real_file_system(), sources->front());
  ASSERT_TRUE(run) << describe(run.error());
  const Result<Report> report = diagnose(*run);
  ASSERT_TRUE(report) << describe(report.error());
  for (const std::string& complaint : complaints(expected, *report)) {
    ADD_FAILURE() << expected.about << "\n  " << complaint << "\nreport:" << told(*report);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CaseTest, testing::ValuesIn(all_cases()), test_name);

/// A folder of cases with one finding's folder in it, gone when the test is over.
class WrittenCases : public testing::Test {
 protected:
  WrittenCases() { std::filesystem::create_directories(home); }
  ~WrittenCases() override { std::filesystem::remove_all(folder); }
  WrittenCases(const WrittenCases&) = delete;
  WrittenCases& operator=(const WrittenCases&) = delete;

  void write(const std::string& file, const std::string& text) const { std::ofstream(home / file) << text; }

  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      fmt::format("osler-cases-{}", testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path home = folder / "overfitting";
};

TEST_F(WrittenCases, AreReadWithWhatIsExpectedOfThem) {
  write("sick-real.csv", "step,loss\n0,1\n");
  write("expected.json", R"({"sick-real.csv": {"about": "A real one.", "must_report": ["overfitting"]}})");
  write("README.md", "# Where they come from\n");
  const Result<std::vector<Case>> cases = read_cases(folder.string());
  ASSERT_TRUE(cases) << describe(cases.error());
  ASSERT_EQ(cases->size(), 1U);
  EXPECT_EQ(cases->front().finding, "overfitting");
  EXPECT_EQ(cases->front().must_report, std::vector<std::string>{"overfitting"});
}

TEST_F(WrittenCases, AreNotThereBeforeSomebodyWritesThem) {
  write("README.md", "# Cases that are still to come\n");
  const Result<std::vector<Case>> cases = read_cases(folder.string());
  ASSERT_TRUE(cases) << describe(cases.error());
  EXPECT_TRUE(cases->empty());
}

TEST_F(WrittenCases, NeedAnExpectationEach) {
  write("sick-real.csv", "step,loss\n0,1\n");
  EXPECT_FALSE(read_cases(folder.string()));
  write("expected.json", "{}");
  const Result<std::vector<Case>> cases = read_cases(folder.string());
  ASSERT_FALSE(cases);
  EXPECT_NE(describe(cases.error()).find("sick-real.csv"), std::string::npos);
}

TEST(CasesTest, FolderIsWellFormed) {
  const Result<std::vector<Case>> cases = read_cases(kFolder);
  ASSERT_TRUE(cases) << describe(cases.error());
  EXPECT_FALSE(cases->empty());
}

}  // namespace
}  // namespace osler::cases
