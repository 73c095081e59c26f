// osler convert and osler compare as people use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
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
using ::testing::Not;

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

TEST_F(ConvertTest, HowARunEndedIsKeptAndNoEndIsInvented) {
  folder.write("going-on.csv", healthy_csv());
  std::string log;
  for (int step = 0; step < 100; ++step) {
    log += "step " + std::to_string(step) + " loss " + std::to_string(2 - 0.01 * step) + "\n";
  }
  folder.write("crashed.log", log + "torch.cuda.OutOfMemoryError: CUDA out of memory.\n");
  for (const std::string to : {"wandb", "tensorboard", "jsonl", "osler"}) {
    const std::string ending = to == "jsonl" || to == "osler" ? "." + to : "";
    ASSERT_TRUE(converts("going-on.csv", "going-on-" + to + ending, to));
    const Outcome going_on = osler({"convert", "going-on-" + to + ending, "-o", "-", "--to", "jsonl"});
    EXPECT_THAT(going_on.out, Not(HasSubstr("finished"))) << to;
    ASSERT_TRUE(converts("crashed.log", "crashed-" + to + ending, to));
    const Outcome crashed = osler({"diagnose", "crashed-" + to + ending});
    EXPECT_EQ(crashed.exit_code, 1) << to;
    EXPECT_THAT(crashed.out, HasSubstr("kind = out-of-memory")) << to;
  }
}

TEST_F(ConvertTest, WhatATargetHasNoPlaceForIsSaid) {
  folder.write(
      "a.jsonl",
      "{\"config\": {\"lr\": 0.1, \"model\": \"mlp\"}}\n{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n");
  EXPECT_THAT(osler({"convert", "a.jsonl", "-o", "a.csv"}).err,
              HasSubstr("written to a.csv; csv has no place for 2 settings"));
  EXPECT_THAT(osler({"convert", "a.jsonl", "-o", "a.osler"}).err, Not(HasSubstr("no place")));
  EXPECT_THAT(osler({"convert", "a.csv", "-o", "b.csv"}).err, Not(HasSubstr("no place")));
  folder.write("again.jsonl",
               "{\"step\": 1, \"loss\": 2}\n{\"mark\": \"restart\", \"at\": \"step 1\", \"text\": \"resumed\"}\n"
               "{\"step\": 2, \"loss\": 1}\n{\"mark\": \"finished\", \"at\": \"step 2\", \"text\": \"\"}\n");
  EXPECT_THAT(osler({"convert", "again.jsonl", "-o", "again", "--to", "wandb"}).err, HasSubstr("no place for 1 mark"));
  EXPECT_THAT(osler({"convert", "again.jsonl", "-o", "again.csv"}).err, HasSubstr("csv has no place for"));
  EXPECT_THAT(osler({"convert", "again.jsonl", "-o", "again.osler"}).err, Not(HasSubstr("no place")));
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

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ConvertTest, WhatIsReadIsNeverWrittenOver) {
  folder.write("a.csv", healthy_csv());
  ASSERT_TRUE(converts("a.csv", "run.osler"));
  const std::string run_file = text_of(folder.path() / "run.osler");
  std::filesystem::create_hard_link(folder.path() / "a.csv", folder.path() / "twin.csv");
  std::filesystem::create_symlink("a.csv", folder.path() / "link.csv");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"a.csv", "a.csv"},
                                                                                 {"a.csv", "./a.csv"},
                                                                                 {"a.csv", "twin.csv"},
                                                                                 {"a.csv", "link.csv"},
                                                                                 {"link.csv", "a.csv"},
                                                                                 {"run.osler", "run.osler"}}) {
    const Outcome outcome = osler({"convert", from, "-o", to, "--force"});
    EXPECT_EQ(outcome.exit_code, 2) << from << " to " << to;
    EXPECT_THAT(outcome.err, HasSubstr("is what is being read"));
  }
  EXPECT_EQ(text_of(folder.path() / "a.csv"), healthy_csv());
  EXPECT_EQ(text_of(folder.path() / "run.osler"), run_file);
  EXPECT_EQ(osler({"diagnose", "a.csv", "--html", "a.csv"}).exit_code, 2);
  EXPECT_EQ(text_of(folder.path() / "a.csv"), healthy_csv());
}

TEST_F(ConvertTest, AnEventFileIsNotWrittenIntoTheRunItself) {
  folder.write("a.csv", healthy_csv());
  ASSERT_TRUE(converts("a.csv", "board/"));
  const Outcome outcome = osler({"convert", "board", "-o", "board/"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("holds the run being read"));
}

TEST_F(ConvertTest, DevicesAndPipesAreNotReplaced) {
  folder.write("a.csv", healthy_csv());
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  for (const std::string out : {"fifo", "/dev/full", "/dev/null"}) {
    const Outcome outcome = osler({"convert", "a.csv", "-o", out, "--to", "csv", "--force"});
    EXPECT_EQ(outcome.exit_code, 2) << out;
    EXPECT_THAT(outcome.err, HasSubstr("standard output"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(folder.path() / "fifo"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(ConvertTest, AMinusIsStandardOutput) {
  folder.write("a.csv", healthy_csv());
  const Outcome table = osler({"convert", "a.csv", "-o", "-"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  folder.write("b.csv", table.out);
  EXPECT_EQ(values_of(folder.path() / "b.csv"), values_of(folder.path() / "a.csv"));
  const Outcome lines = osler({"convert", "a.csv", "-o", "-", "--to", "jsonl"});
  EXPECT_THAT(lines.out, ::testing::StartsWith("{"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "-"));
  EXPECT_EQ(osler({"convert", "a.csv", "-o", "-", "--to", "osler"}).exit_code, 2);
}

TEST_F(ConvertTest, AFailureKeepsTheOldFileAndLeavesNothingElse) {
  folder.write("log.txt", "no numbers at all\nin these lines\n");
  folder.write("old.csv", "precious\n");
  const Outcome outcome = osler({"convert", "log.txt", "-o", "old.csv", "--force", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(text_of(folder.path() / "old.csv"), "precious\n");
  // A limit on the size of files stands for a full disk.
  folder.write("long.csv", csv(20000, {{"loss", [](int step) { return 1.0 / (1 + step); }}}));
  Call call;
  call.arguments = {"convert", "long.csv", "-o", "old.csv", "--force"};
  call.folder = folder.path();
  call.file_size_limit = 4096;
  const Outcome full = run(call);
  EXPECT_EQ(full.exit_code, 2) << full.err;
  EXPECT_THAT(full.err, HasSubstr("old.csv"));
  EXPECT_EQ(text_of(folder.path() / "old.csv"), "precious\n");
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++entries;
  EXPECT_EQ(entries, 3) << "no draft is left";
}

TEST_F(ConvertTest, ALinkIsFollowedToTheFileItNames) {
  folder.write("a.csv", healthy_csv());
  folder.write("kept/real.csv", "old\n");
  std::filesystem::create_symlink("kept/real.csv", folder.path() / "link.csv");
  EXPECT_EQ(osler({"convert", "a.csv", "-o", "link.csv", "--force"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link.csv"));
  EXPECT_EQ(values_of(folder.path() / "kept/real.csv"), values_of(folder.path() / "a.csv"));
}

TEST_F(ConvertTest, RunsOfLikeNamesDoNotReplaceEachOther) {
  folder.write("runs/a/b/metrics.csv", healthy_csv());
  folder.write("runs/a-b/metrics.csv", nan_csv());
  const Outcome outcome = osler({"convert", "runs", "-o", "out", "--to", "csv", "--force"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path() / "out")) ++files;
  EXPECT_EQ(files, 2);
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

TEST_F(CompareTest, ARunThatDiedFailsWhateverItsNumbersWere) {
  const auto falling = [](int step) { return 0.3 + 2.0 * std::exp(-step / 60.0) + 0.02 * noise(step, 1); };
  folder.write("good.csv", csv(400, {{"loss", falling}}));
  folder.write("nan.csv", csv(400, {{"loss", [&](int step) { return step < 200 ? falling(step) : std::nan(""); }}}));
  folder.write("short.csv", csv(60, {{"loss", falling}}));
  folder.write("other.csv", csv(400, {{"lr", [](int) { return 0.1; }}}));
  const Outcome died = osler({"compare", "good.csv", "nan.csv", "--fail-on", "worse"});
  EXPECT_EQ(died.exit_code, 1);
  EXPECT_THAT(died.out, HasSubstr("no finite value of loss after step 199"));
  const auto json = nlohmann::json::parse(osler({"compare", "good.csv", "nan.csv", "--json"}).out);
  EXPECT_EQ(json["standing"], "worse");
  EXPECT_EQ(json["standing_reason"], "nonfinite");
  const Outcome stopped = osler({"compare", "good.csv", "short.csv", "--fail-on", "worse"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.out, HasSubstr("stopped early"));
  EXPECT_EQ(osler({"compare", "other.csv", "other.csv", "--fail-on", "worse"}).exit_code, 2)
      << "without a loss or a metric nothing is proved";
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
