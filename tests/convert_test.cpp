// osler convert and osler compare as people use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a table holds: column and step to the value as it was written.
std::map<std::pair<std::string, long>, double> values_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<std::string> names;
  std::istringstream header(line);
  for (std::string cell; std::getline(header, cell, ',');) names.push_back(cell);
  std::map<std::pair<std::string, long>, double> values;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    long step = 0;
    std::string cell;
    for (std::size_t column = 0; std::getline(row, cell, ','); ++column) {
      if (column == 0) step = std::stol(cell);
      if (column > 0 && !cell.empty() && names[column] != "wall_time") values[{names[column], step}] = std::stod(cell);
    }
  }
  return values;
}

class ConvertTest : public ::testing::Test {
 protected:
  Outcome osler(std::vector<std::string> arguments, const std::optional<std::string>& input = {}) const {
    Call call;
    call.arguments = std::move(arguments);
    call.input = input;
    call.folder = folder.path();
    call.environment = {{"LANG", "C.UTF-8"}};
    return run(call);
  }
  [[nodiscard]] bool converts(const std::string& from, const std::string& to, const std::string& target = {}) const {
    std::vector<std::string> arguments = {"convert", from, "-o", to};
    if (!target.empty()) arguments.insert(arguments.end(), {"--to", target});
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << from << " to " << to << ": " << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.exit_code == 0;
  }

  Folder folder;
};

TEST_F(ConvertTest, AWayThroughAllFormatsChangesNothing) {
  folder.write("a.csv", overfitting_csv());
  ASSERT_TRUE(converts("a.csv", "b.osler"));
  ASSERT_TRUE(converts("b.osler", "c.jsonl"));
  ASSERT_TRUE(converts("c.jsonl", "board/"));
  ASSERT_TRUE(converts("board", "offline", "wandb"));
  ASSERT_TRUE(converts("offline", "z.csv"));
  const auto before = values_of(folder.path() / "a.csv");
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(before, values_of(folder.path() / "z.csv"));
}

TEST_F(ConvertTest, APipeIsConvertedToo) {
  const Outcome outcome = osler({"convert", "-", "-o", "x.jsonl"}, healthy_csv());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(osler({"diagnose", "x.jsonl"}).exit_code, 0);
}

TEST_F(ConvertTest, SeveralRunsGetAFileEach) {
  folder.write("runs/one/metrics.csv", healthy_csv());
  folder.write("runs/two/metrics.csv", nan_csv());
  const Outcome outcome = osler({"convert", "runs", "-o", "out", "--to", "jsonl"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t written = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "out")) {
    written += entry.path().extension() == ".jsonl" ? 1 : 0;
  }
  EXPECT_EQ(written, 2);
}

TEST_F(ConvertTest, AFileThatExistsIsNotTouchedWithoutForce) {
  folder.write("a.csv", healthy_csv());
  folder.write("b.jsonl", "precious\n");
  const Outcome refused = osler({"convert", "a.csv", "-o", "b.jsonl"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(osler({"convert", "a.csv", "-o", "b.jsonl", "--force"}).exit_code, 0);
}

TEST_F(ConvertTest, WishesThatMakeNoSenseAreRefusedInOneLine) {
  folder.write("a.csv", healthy_csv());
  for (const auto& [arguments, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"convert", "a.csv", "-o", "x.bin"}, "--to"},
           {{"convert", "a.csv", "-o", "x", "--to", "tensorbord"}, "tensorboard"},
           {{"convert", "none.csv", "-o", "x.csv"}, "none.csv"},
           {{"convert", "a.csv", "-o", "x.csv", "--format", "nope"}, "nope"}}) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

using CompareTest = ConvertTest;

TEST_F(CompareTest, SaysWhereTheyPartAndWhichIsWorse) {
  folder.write("good.csv", healthy_csv());
  folder.write("bad.csv", overfitting_csv());
  const Outcome text = osler({"compare", "good.csv", "bad.csv"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("first"), HasSubstr("second"), HasSubstr("part")));
  const Outcome json = osler({"compare", "good.csv", "bad.csv", "--json"});
  const nlohmann::json comparison = nlohmann::json::parse(json.out);
  EXPECT_EQ(comparison["schema"], "osler-comparison/1");
  EXPECT_EQ(comparison["reports"].size(), 2);
  EXPECT_FALSE(comparison["series"].empty());
}

TEST_F(CompareTest, ARunIsNoWorseThanItself) {
  folder.write("a.csv", healthy_csv());
  folder.write("b.csv", healthy_csv());
  const Outcome outcome = osler({"compare", "a.csv", "b.csv", "--fail-on", "worse"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("very same"));
  EXPECT_EQ(osler({"compare", "a.csv", "b.csv", "--fail-on", "not-better"}).exit_code, 1);
}

TEST_F(CompareTest, WhatCannotBeComparedIsSaidInOneLine) {
  folder.write("a.csv", healthy_csv());
  for (const auto& [arguments, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"compare", "a.csv", "none.csv"}, "none.csv"},
           {{"compare", "a.csv", "a.csv", "--align", "moon"}, "moon"},
           {{"compare", "a.csv", "a.csv", "--align", "tokens"}, "tokens"},
           {{"compare", "a.csv", "a.csv", "--fail-on", "always"}, "not-better"}}) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace osler::tests
