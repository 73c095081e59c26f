// osler.toml and osler help as people use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "program.h"

namespace osler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProjectTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome osler(std::vector<std::string> arguments) const {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder.path();
    return run(call);
  }

  Folder folder;
};

TEST_F(ProjectTest, AFileBesideTheProjectSaysOptionsOnce) {
  const auto other = [](int step) { return 1.0 + step % 7; };  // of two unknown series neither is taken for the loss
  folder.write("run.csv", csv(400, {{"qqq", [](int step) { return step < 250 ? 3.0 / (1 + step) : std::nan(""); }},
                                    {"rrr", other}}));
  const Outcome without = osler({"diagnose", "run.csv"});
  EXPECT_EQ(without.exit_code, 2) << "no loss is known: " << without.out;
  folder.write("osler.toml", "role = [\"train-loss=qqq\"]\n\n[compare]\nfail-on = \"worse\"\n");
  const Outcome with = osler({"diagnose", "run.csv"});
  EXPECT_EQ(with.exit_code, 1) << with.out << with.err;
  folder.write("good.csv", csv(400, {{"qqq", [](int step) { return 3.0 / (1 + step); }}, {"rrr", other}}));
  EXPECT_EQ(osler({"compare", "good.csv", "run.csv"}).exit_code, 1) << "the section of the verb counts";
  EXPECT_EQ(osler({"compare", "good.csv", "run.csv", "--fail-on", "never"}).exit_code, 0) << "the command line wins";
  EXPECT_EQ(osler({"list", "findings"}).exit_code, 0) << "what a verb does not have it is not given";
}

TEST_F(ProjectTest, ARoleIsForTheLogsThatHaveTheSeries) {
  const auto broken = [](int step) { return step < 250 ? 3.0 / (1 + step) : std::nan(""); };
  folder.write("osler.toml", "role = [\"train-loss=qqq\"]\n");
  folder.write("runs/one.csv", csv(400, {{"qqq", broken}}));
  folder.write("runs/two.csv", csv(400, {{"loss", broken}}));
  const Outcome both = osler({"diagnose", "runs"});
  EXPECT_EQ(both.exit_code, 1) << both.err;
  EXPECT_THAT(both.out, HasSubstr("2 of 2 runs sick"));
  const Outcome wrong = osler({"diagnose", "runs/two.csv", "--role", "train-loss=rrr"});
  EXPECT_EQ(wrong.exit_code, 2) << "what is said on the command line is meant";
}

TEST_F(ProjectTest, MistakesInItAreSaidInOneLine) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"rolle = \"train-loss=x\"\n", "role"},
           {"[diagnos]\nrole = \"a=b\"\n", "not a verb"},
           {"[watch]\non-critical = \"rm -rf /\"\n", "can only be given on the command line"},
           {"[serve]\ntoken = \"x\"\n", "can only be given on the command line"}}) {
    folder.write("osler.toml", text);
    const Outcome outcome = osler({"diagnose", "run.csv"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, StartsWith("osler: osler.toml: "));
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  }
}

TEST_F(ProjectTest, AFileThatEverybodyMayWriteIsNotRead) {
  folder.write("osler.toml", "fail-on = \"note\"\n");
  std::filesystem::permissions(folder.path() / "osler.toml", std::filesystem::perms::all);
  const Outcome outcome = osler({"diagnose", folder.write("run.csv", healthy_csv())});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("not read"));
}

TEST_F(ProjectTest, HelpIsAWordToo) {
  EXPECT_EQ(osler({"help"}).out, osler({"--help"}).out);
  EXPECT_EQ(osler({"help", "watch"}).out, osler({"watch", "--help"}).out);
  EXPECT_EQ(osler({"help", "wach"}).exit_code, 2);
}

}  // namespace
}  // namespace osler::tests
