// What shells offer, asked of a real bash.
#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/program.h"

namespace osler::cli {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class BashCompletion : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "osler-completion-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "script") << bash_completion(program_tree());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What is offered for the last of the words, each quoted as the shell wants it.
  [[nodiscard]] std::vector<std::string> offered(const std::string& words) const {
    std::ofstream(folder_ / "ask") << "source " << (folder_ / "script").string() << "\nCOMP_WORDS=(" << words
                                   << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_osler\n"
                                   << "((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    return lines_of("bash --norc " + (folder_ / "ask").string() + " 2>&1");
  }

  std::filesystem::path folder_;
};

TEST_F(BashCompletion, OffersVerbsFirst) {
  EXPECT_THAT(offered("osler diag"), ElementsAre("diagnose"));
  EXPECT_THAT(offered("osler ''"), Contains("watch"));
  EXPECT_THAT(offered("osler ''"), Each(Not(StartsWith("-"))));
}

TEST_F(BashCompletion, OffersTheOptionsOfAVerb) {
  EXPECT_THAT(offered("osler diagnose --fail"), ElementsAre("--fail-on"));
  EXPECT_THAT(offered("osler list --fail"), IsEmpty());
}

TEST_F(BashCompletion, OffersValuesWhereTheyAreKnown) {
  EXPECT_THAT(offered("osler diagnose --fail-on w"), ElementsAre("warning"));
  EXPECT_THAT(offered("osler diagnose --fail-on = w"), ElementsAre("warning")) << "as bash cuts --fail-on=w";
  EXPECT_THAT(offered("osler diagnose --only overf"), ElementsAre("overfitting"));
  EXPECT_THAT(offered("osler compare --fail-on w"), ElementsAre("worse"));
  EXPECT_THAT(offered("osler explain lr-too-h"), ElementsAre("lr-too-high"));
  EXPECT_THAT(offered("osler gallery vanishing"), Contains("vanishing-sigmoid"));
}

TEST_F(BashCompletion, KnowsVerbsOfVerbs) {
  EXPECT_THAT(offered("osler baseline l"), ElementsAre("learn"));
  EXPECT_THAT(offered("osler baseline learn --a"), ElementsAre("--all"));
}

TEST_F(BashCompletion, LeavesPathsToBash) {
  EXPECT_THAT(offered("osler diagnose ''"), IsEmpty());
  EXPECT_THAT(offered("osler diagnose --html ''"), IsEmpty());
}

/// Whether a shell takes a script, by its own check of the syntax; shells that are missing are passed over.
void expect_accepted(const std::string& shell, const std::string& script) {
  if (lines_of("command -v " + shell).empty()) GTEST_SKIP() << shell << " is not installed";
  std::string name = (std::filesystem::temp_directory_path() / "osler-script-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  std::ofstream(std::filesystem::path(name) / "script") << script;
  EXPECT_THAT(lines_of(shell + " -n " + name + "/script 2>&1"), IsEmpty());
  std::filesystem::remove_all(name);
}

TEST(ZshCompletion, IsAcceptedByZsh) {
  expect_accepted("zsh", zsh_completion(program_tree()));
}

TEST(FishCompletion, IsAcceptedByFish) {
  expect_accepted("fish", fish_completion(program_tree()));
}

TEST(ZshCompletion, DescribesOptionsAndTheirValues) {
  const std::string script = zsh_completion(program_tree());
  EXPECT_THAT(script, HasSubstr("'(--html)--html[Also write one HTML file"));
  EXPECT_THAT(script, HasSubstr(":LEVEL:(note warning critical)'"));
  EXPECT_THAT(script, HasSubstr("_osler_baseline_learn() {"));
}

TEST(FishCompletion, DescribesOptionsAndTheirValues) {
  const std::string script = fish_completion(program_tree());
  EXPECT_THAT(script, HasSubstr("complete -c osler -n '__fish_seen_subcommand_from diagnose' -l fail-on -x -a "
                                "'note warning critical'"));
  EXPECT_THAT(script, HasSubstr("-s o -l output"));
}

TEST(KnownWords, AreThoseThatTheOptionsHelpNames) {
  std::size_t asked = 0;
  for (const Command& verb : program_tree().verbs) {
    for (const CommandOption& option : verb.options) {
      // Ids are too many for a line of help, and severities are known from the reports.
      if (option.value == "ID" || option.value == "LEVEL") continue;
      for (const std::string& word : known_words(verb.name, option)) {
        ++asked;
        EXPECT_THAT(option.description + " " + option.standard, HasSubstr(word)) << verb.name << option.names.back();
      }
    }
  }
  EXPECT_GT(asked, 15u);
}

}  // namespace
}  // namespace osler::cli
