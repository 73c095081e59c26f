// osler plot and osler report as a user meets them: files, names, words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "program.h"

namespace osler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Drawing : public ::testing::Test {
 protected:
  Drawing() {
    folder_.write("exp 42.csv", csv(200, {{"loss", [](int step) { return 2.0 / (1 + step * 0.1); }},
                                          {"grad_norm", [](int step) { return 1 + 0.1 * noise(step, 1); }}}));
  }

  Outcome osler(std::vector<std::string> arguments) {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder_.path();
    return run(call);
  }

  Folder folder_;
};

TEST_F(Drawing, NamesTheFileAfterTheRun) {
  const Outcome outcome = osler({"plot", "exp 42.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "exp-42-curves.png\n");
  EXPECT_THAT(bytes_of(folder_.path() / "exp-42-curves.png"), StartsWith("\x89PNG"));
}

TEST_F(Drawing, WritesTheTypeThatTheEndingSays) {
  EXPECT_EQ(osler({"plot", "exp 42.csv", "--kind", "overview", "-o", "a.SVG"}).exit_code, 0);
  EXPECT_THAT(bytes_of(folder_.path() / "a.SVG"), HasSubstr("<svg"));
  EXPECT_EQ(osler({"plot", "exp 42.csv", "--kind", "gradients", "--theme", "dark", "-o", "b.pdf"}).exit_code, 0);
  EXPECT_THAT(bytes_of(folder_.path() / "b.pdf"), StartsWith("%PDF-"));
}

TEST_F(Drawing, ARunFileWithoutHistogramsIsToldSo) {
  ASSERT_EQ(osler({"convert", "exp 42.csv", "-o", "exp.osler"}).exit_code, 0);
  const Outcome outcome = osler({"plot", "exp.osler", "--kind", "ridge"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the run has no histograms"));
  EXPECT_EQ(osler({"plot", "exp.osler", "--kind", "gradients"}).exit_code, 0);
}

TEST_F(Drawing, AnswersBadWordsWithOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"plot", "exp 42.csv", "-o", "a.gif"}, ".png, .svg or .pdf"},
      {{"plot", "exp 42.csv", "--kind", "overvew"}, "did you mean overview"},
      {{"plot", "exp 42.csv", "--series", "los"}, "did you mean loss"},
      {{"plot", "exp 42.csv", "--finding", "los-spikes"}, "did you mean loss-spikes"},
      {{"plot", "exp 42.csv", "--finding", "loss-spikes"}, "no finding 'loss-spikes'"},
      {{"plot", "exp 42.csv", "--theme", "pink"}, "light, dark"},
      {{"plot", "exp 42.csv", "--width", "5"}, "320"},
      {{"plot", "exp 42.csv", "--from", "500"}, "steps 0 to 199"},
      {{"plot", "exp 42.csv", "--kind", "ridge"}, "no histograms"},
      {{"plot", "missing.csv"}, "missing.csv"},
      {{"plot", "exp 42.csv", "-o", "no/such/folder/a.png"}, "no/such/folder"},
      {{"report", "exp 42.csv", "-o", "a.txt"}, ".png, .svg or .pdf"},
      {{"report", "missing.csv"}, "missing.csv"},
  };
  for (const auto& [arguments, words] : wrong) {
    const Outcome outcome = osler(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_THAT(outcome.err, StartsWith("osler: "));
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Drawing, AsksForOneOfSeveralRuns) {
  std::filesystem::create_directories(folder_.path() / "runs");
  for (const char* name : {"runs/a.csv", "runs/b.csv"}) {
    folder_.write(name, csv(50, {{"loss", [](int step) { return 1.0 / (1 + step); }}}));
  }
  const Outcome outcome = osler({"plot", "runs"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("2 runs there, name one"));
}

TEST_F(Drawing, WritesADocument) {
  const Outcome outcome = osler({"report", "exp 42.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "exp-42-report.pdf\n");
  EXPECT_THAT(bytes_of(folder_.path() / "exp-42-report.pdf"), StartsWith("%PDF-"));
}

TEST_F(Drawing, ReadsAPipe) {
  Call call;
  call.arguments = {"plot", "-", "-o", "piped.png"};
  call.input = csv(50, {{"loss", [](int step) { return 1.0 / (1 + step); }}});
  call.folder = folder_.path();
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(bytes_of(folder_.path() / "piped.png"), StartsWith("\x89PNG"));
}

}  // namespace
}  // namespace osler::tests
