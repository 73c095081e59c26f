// The built program as a user meets it: what it prints where, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "json_schema.h"
#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProgramTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome osler(std::vector<std::string> arguments) const {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder_.path();
    return run(call);
  }

  Folder folder_;
};

std::ptrdiff_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    ASSERT_NE(at, std::string::npos) << "missing, or too early: " << part << "\n" << text;
  }
}

TEST_F(ProgramTest, AHealthyRunEndsInZeroWithNothingOnStandardError) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", healthy_csv())});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("✓ HEALTHY"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ProgramTest, ASickRunEndsInOne) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", nan_csv())});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("✗ CRITICAL"), HasSubstr("loss-nonfinite-later"), HasSubstr("step 250")));
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(lines(outcome.out), 46);
}

TEST_F(ProgramTest, FailOnDecidesWhatCounts) {
  folder_.write("run.csv", overfitting_csv());
  EXPECT_EQ(osler({"diagnose", "run.csv", "--fail-on", "note"}).exit_code, 1);
  EXPECT_EQ(osler({"diagnose", "run.csv", "--fail-on", "warning"}).exit_code, 1);
  EXPECT_EQ(osler({"diagnose", "run.csv", "--fail-on", "banana"}).exit_code, 2);
}

TEST_F(ProgramTest, JsonIsTheOnlyThingOnStandardOutputAndValid) {
  for (const std::string& text : {healthy_csv(), nan_csv(), overfitting_csv()}) {
    const Outcome outcome = osler({"diagnose", folder_.write("run.csv", text), "--json"});
    EXPECT_EQ(schema_complaints(outcome.out, report_schema()), "") << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(ProgramTest, JsonOfSeveralRunsIsAnArray) {
  folder_.write("a/metrics.csv", healthy_csv());
  folder_.write("b/metrics.csv", nan_csv());
  const Outcome outcome = osler({"diagnose", ".", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(schema_complaints(outcome.out, report_schema()), "");
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["reports"].size(), 2u);
}

TEST_F(ProgramTest, SeveralRunsGetATableWithTheWorstFirst) {
  folder_.write("a/metrics.csv", healthy_csv());
  folder_.write("b/metrics.csv", overfitting_csv());
  folder_.write("c/metrics.csv", nan_csv());
  const Outcome outcome = osler({"diagnose", "."});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, StartsWith("✗ critical"));
  expect_in_order(outcome.out, {"✗ critical  c", "▲ warning   b", "✓ healthy   a"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("✓ healthy"), HasSubstr("2 of 3 runs sick"), HasSubstr("✗ CRITICAL")));
}

TEST_F(ProgramTest, ManySickRunsGetTheTableAlone) {
  for (int i = 0; i < 7; ++i) folder_.write("run" + std::to_string(i) + ".csv", nan_csv());
  const Outcome outcome = osler({"diagnose", "*.csv"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("7 of 7 runs sick"), HasSubstr("--verbose"), Not(HasSubstr("Why\n"))));
  EXPECT_THAT(osler({"diagnose", "*.csv", "--verbose"}).out, HasSubstr("Why\n"));
}

TEST_F(ProgramTest, ReadsFromAPipe) {
  Call call;
  call.arguments = {"diagnose", "-"};
  call.input = nan_csv();
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("loss-nonfinite-later"));
}

TEST_F(ProgramTest, CtrlCEndsTheReadingAndDiagnosesWhatCame) {
  Call call;
  call.arguments = {"diagnose", "-"};
  call.input = nan_csv();
  call.interrupt_when_read = true;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("loss-nonfinite-later"), HasSubstr("reading was interrupted")));
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
}

TEST_F(ProgramTest, AReaderThatGoesAwayIsNoError) {
  folder_.write("run.csv", nan_csv());
  Call call;
  call.arguments = {"diagnose", "run.csv", "--json"};
  call.folder = folder_.path();
  call.close_output_early = true;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ProgramTest, QuietSaysNothing) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", nan_csv()), "--quiet"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(ProgramTest, WritesSarifBesideTheReport) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", nan_csv()), "--sarif", "run.sarif"});
  EXPECT_THAT(outcome.out, StartsWith("✗ CRITICAL"));
  std::ifstream file(folder_.path() / "run.sarif");
  const nlohmann::json log = nlohmann::json::parse(file);
  EXPECT_EQ(log["runs"][0]["results"][0]["ruleId"], "loss-nonfinite-later");
  EXPECT_EQ(osler({"diagnose", "run.csv", "--sarif", "no/such/folder/x"}).exit_code, 2);
}

TEST_F(ProgramTest, AFullDiskIsSaidAndNotIgnored) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", healthy_csv()), "--sarif", "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("No space left"));
}

TEST_F(ProgramTest, OnlyChecksWhatWasAskedFor) {
  const Outcome outcome =
      osler({"diagnose", folder_.write("run.csv", nan_csv()), "--only", "loss-diverging", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["findings"].size(), 0u);
}

TEST_F(ProgramTest, ARoleCanBeTold) {
  std::string text = nan_csv();
  text.replace(text.find("train/loss"), 10, "zorp_value");
  folder_.write("run.csv", text);
  EXPECT_EQ(osler({"diagnose", "run.csv", "--role", "train-loss=zorp_value"}).exit_code, 1);
  const Outcome wrong = osler({"diagnose", "run.csv", "--role", "train-loss=zorp_valu"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean zorp_value?"));
}

TEST_F(ProgramTest, MistakesGetOneHelpfulLine) {
  folder_.write("run.csv", healthy_csv());
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"diagnos", "run.csv"}, "did you mean diagnose?"},
      {{"run.csv"}, "osler diagnose run.csv"},
      {{"diagnose"}, "PATH is required"},
      {{"diagnose", "run.csv", "--jsn"}, "--jsn"},
      {{"diagnose", "run.csv", "--role", "trainloss=x"}, "did you mean train-loss?"},
      {{"diagnose", "run.csv", "--only", "overfiting"}, "did you mean overfitting?"},
      {{"diagnose", "run.csv", "--set", "loss-diverging.xyz=1"}, "osler explain loss-diverging"},
      {{"diagnose", "run.csv", "--format", "cvs"}, "did you mean csv?"},
      {{"diagnose", "run.csv", "--json", "--quiet"}, "--quiet"},
      {{"explain", "overfiting"}, "did you mean overfitting?"},
      {{"list", "finding"}, "did you mean findings?"},
  };
  for (const auto& [arguments, hint] : mistakes) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << hint;
    EXPECT_EQ(outcome.out, "") << hint;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("osler: "), HasSubstr(hint)));
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
  }
}

TEST_F(ProgramTest, WhatALibraryAdvisesComesWithTheOptionToType) {
  folder_.write("diary.txt", "Dear diary,\nnothing happened.\n");
  folder_.write("zorp.csv", "step,zorp,zirp\n1,3,5\n2,2,3\n3,1,4\n4,1,2\n5,1,1\n");
  folder_.write("empty.csv", "step,loss\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> advised = {
      {{"diagnose", "diary.txt"}, "(--format ID, --role train-loss=NAME)"},
      {{"diagnose", "zorp.csv"}, "(--role train-loss=NAME)"},
      {{"diagnose", "empty.csv"}, "(--format ID)"},
      {{"plot", "zorp.csv"}, "(--series A,B)"},
      {{"serve", ".", "--address", "0.0.0.0"}, "(--token-file FILE, or the variable OSLER_TOKEN)"},
  };
  for (const auto& [arguments, option] : advised) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(option));
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
  }
}

TEST_F(ProgramTest, HelpTeachesByExample) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"--help"}, {"diagnose", "--help"}, {"explain", "--help"}, {"list", "--help"}}) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: osler"), HasSubstr("Examples:\n  osler ")));
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_THAT(osler({"--version"}).out, ContainsRegex("^osler [0-9]+\\.[0-9]+\\.[0-9]+\n$"));
}

TEST_F(ProgramTest, HelpOfEveryVerbIsLaidOutAlike) {
  const std::vector<std::string> words_of_cli11 = {"Subcommands:", "Positionals:", ":INT",
                                                   " in [",        "Excludes",     "\n\n\n"};
  for (const char* verb :
       {"baseline", "compare", "completion", "convert", "diagnose", "examine", "explain", "fleet", "learn", "list",
        "man", "mcp", "note", "plot", "report", "serve", "ship", "store", "watch"}) {
    const std::string help = osler({verb, "--help"}).out;
    EXPECT_THAT(help, Not(ContainsRegex("[^\n]{121}"))) << verb << " has lines of more than 120 characters";
    EXPECT_THAT(help, HasSubstr("Print this help and exit")) << verb;
    for (const std::string& word : words_of_cli11) EXPECT_THAT(help, Not(HasSubstr(word))) << verb;
  }
}

/// The first example of each kind in the help must name things that exist.
TEST_F(ProgramTest, ExamplesOfTheHelpNameThingsThatExist) {
  std::istringstream help(osler({"diagnose", "--help"}).out + osler({"explain", "--help"}).out);
  int tried = 0;
  for (std::string word; help >> word;) {
    if (word.find('.') == std::string::npos || word.find('=') == std::string::npos || word.find("--") == 0) continue;
    const std::string setting = word.substr(0, word.find('='));
    if (setting.find('-') == std::string::npos) continue;
    EXPECT_EQ(osler({"explain", setting}).exit_code, 0) << setting;
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

TEST_F(ProgramTest, ExplainsEverythingThatIsListed) {
  const nlohmann::json lists = nlohmann::json::parse(osler({"list", "--json"}).out);
  for (const char* kind : {"findings", "causes", "formats"}) {
    ASSERT_GT(lists[kind].size(), 0u);
    for (const nlohmann::json& item : lists[kind]) {
      const Outcome outcome = osler({"explain", item["id"].get<std::string>()});
      EXPECT_EQ(outcome.exit_code, 0) << item["id"];
      EXPECT_THAT(outcome.out, HasSubstr(item["id"].get<std::string>()));
    }
  }
  const nlohmann::json& finding = lists["findings"][0];
  const std::string setting =
      finding["id"].get<std::string>() + "." + finding["settings"][0]["name"].get<std::string>();
  EXPECT_THAT(osler({"explain", setting}).out, StartsWith(setting));
  EXPECT_GT(finding["needs"].size(), 0u);
}

TEST_F(ProgramTest, ExplainWithoutAnIdListsThePages) {
  EXPECT_THAT(osler({"explain"}).out, AllOf(HasSubstr("overfitting"), HasSubstr("csv"), HasSubstr("osler explain ID")));
}

TEST_F(ProgramTest, ColoursOnlyATerminalAndNeverAgainstNoColor) {
  folder_.write("run.csv", nan_csv());
  Call call;
  call.arguments = {"diagnose", "run.csv"};
  call.folder = folder_.path();
  EXPECT_THAT(run(call).out, Not(HasSubstr("\x1b")));
  call.terminal = true;
  call.environment = {{"TERM", "xterm"}};
  EXPECT_THAT(run(call).out, HasSubstr("\x1b[1;31m"));
  call.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  EXPECT_THAT(run(call).out, Not(HasSubstr("\x1b")));
  call.environment = {{"TERM", "dumb"}};
  EXPECT_THAT(run(call).out, Not(HasSubstr("\x1b")));
  call.environment = {{"TERM", "xterm"}};
  call.arguments.push_back("--no-colour");
  EXPECT_THAT(run(call).out, Not(HasSubstr("\x1b")));
  call.terminal = false;
  call.arguments.back() = "--colour";
  EXPECT_THAT(run(call).out, HasSubstr("\x1b[1;31m"));
}

TEST_F(ProgramTest, FollowsTheWidthAndTheLocale) {
  folder_.write("run.csv", overfitting_csv());
  Call call;
  call.arguments = {"diagnose", "run.csv"};
  call.folder = folder_.path();
  call.environment = {{"COLUMNS", "50"}, {"LC_ALL", "C"}};
  std::istringstream text(run(call).out);
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 50u) << line;
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](unsigned char sign) { return sign < 0x80; })) << line;
  }
}

TEST_F(ProgramTest, EveryLogOfTheCorpusGivesAValidReportOfOneScreen) {
  const std::filesystem::path corpus = OSLER_SOURCE_DIR "/../shared/corpus/files";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "the corpus of real logs is not here";
  const nlohmann::json schema = report_schema();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file() || entry.path().string().find("/mlflow/") != std::string::npos) continue;
    const std::string path = entry.path().string();
    const Outcome json = osler({"diagnose", path, "--json"});
    ASSERT_LE(json.exit_code, 2) << path << json.err;
    if (!json.out.empty()) {
      EXPECT_EQ(schema_complaints(json.out, schema), "") << path;
    }
    EXPECT_EQ(json.exit_code == 2, !json.err.empty()) << path << json.err;
    EXPECT_LE(lines(json.err), 1) << json.err;
    EXPECT_LE(lines(osler({"diagnose", path}).out), 46) << path;
  }
}

/// Twenty layers of which the eighth has `odd` times the gradient of the others, beside a loss that stands still.
std::string layers_csv(double odd) {
  std::vector<Column> columns = {{"loss", [](int step) { return 2.3 + 0.02 * noise(step, 1); }}};
  for (int layer = 0; layer < 20; ++layer) {
    const double size = layer == 7 ? 0.3 * odd : 0.3;
    columns.push_back({"grad_norm/layers." + std::to_string(layer) + ".weight",
                       [size, layer](int step) { return size * (1 + 0.1 * noise(step, layer + 2)); }});
  }
  return csv(60, columns);
}

TEST_F(ProgramTest, LayersShowsEveryLayerAndNamesTheOneThatIsWrong) {
  const std::string log = folder_.write("layers.csv", layers_csv(267));
  const Outcome outcome = osler({"diagnose", log, "--layers"});
  expect_in_order(outcome.out, {"exploding-layer", "layers.7.weight", "Layers  20 layers", "layers.0.weight", "ok",
                                "layers.7.weight", "exploding", "layers.19.weight", "lowest", "median", "highest"});
  EXPECT_THAT(outcome.out, HasSubstr("computed from 20 layers"));
  const Outcome plain = osler({"diagnose", log});
  EXPECT_THAT(plain.out, Not(HasSubstr("Layers  20")));

  const auto json = nlohmann::json::parse(osler({"diagnose", log, "--layers", "--json"}).out);
  EXPECT_EQ(schema_complaints(json.dump(), report_schema()), "");
  ASSERT_EQ(json["layers"]["rows"].size(), 20U);
  EXPECT_EQ(json["layers"]["rows"][7]["status"], "exploding");
  EXPECT_EQ(json["layers"]["rows"][8]["status"], "ok");
}

TEST_F(ProgramTest, LayersOfARunWithoutAnySaysHowToLogThem) {
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", healthy_csv()), "--layers"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("no statistics of layers"));
}

}  // namespace
}  // namespace osler::tests
