// The command line as a whole: its verbs, its help, its exit codes.
#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "cli/gallery/gallery.h"
#include "cli/help.h"
#include "cli/project.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "osler/base/version.h"
#include "osler/report/render.h"

namespace osler::cli {
namespace {

constexpr const char* kProgram = "osler";
constexpr const char* kFooter = R"(Examples:
  osler diagnose runs/exp42              what is wrong, since when, why, what to change
  osler diagnose 'logs/*.csv'            many runs: a table, worst first, then the sick ones
  python train.py | osler diagnose -     read from a pipe
  osler diagnose run.csv --json | jq .status
  osler explain overfitting              the page on a finding or a cause
  osler list findings                    everything Osler can find, and what each needs
  osler help watch                       all about one verb

Options that you always use (role, set, fail-on, webhook, ...) can stand in a file osler.toml in the current folder.

Exit codes: 0 nothing serious found, 1 something found, 2 cannot judge.)";

std::vector<std::string> verbs_of(const CLI::App& program) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : program.get_subcommands({})) verbs.push_back(verb->get_name());
  return verbs;
}

/// A first word that is no verb is either a verb mistyped or a path with the verb forgotten.
int reject_verb(const std::string& word, const std::vector<std::string>& verbs) {
  const std::string hint = did_you_mean(word, verbs);
  complain(fmt::format("'{}' is not a verb{}", word,
                       hint.empty() ? fmt::format("; to examine a log: osler diagnose {}", word) : hint));
  return kCannotJudge;
}

/// The words behind "osler"; those of a command behind "--" of watch become options of their own.
std::vector<std::string> words_of(int count, const char* const* arguments) {
  std::vector<std::string> words(arguments + std::min(count, 1), arguments + count);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (words.empty() || words.front() != "watch" || dashes == words.end()) return words;
  std::vector<std::string> all(words.begin(), dashes);
  for (auto word = dashes + 1; word != words.end(); ++word) all.push_back(std::string(kCommandOption) + "=" + *word);
  return all;
}

/// "osler help VERB" is "osler VERB --help".
void take_help(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "help") return;
  words.erase(words.begin());
  words.resize(std::min<std::size_t>(words.size(), 1));
  words.emplace_back("--help");
}

constexpr const char* kDescription =
    "Osler, the physician for neural-network training.\n"
    "Point it at any training log and learn what is wrong, since when, why, and what to change.";

void describe_program(CLI::App& program, Work& work) {
  program.set_version_flag("--version", "osler " + std::string(version()), "Print the version and exit");
  program.footer(kFooter);
  set_help(program);
  program.require_subcommand(0, 1);
  for (const auto& [name, verb] : osler::verbs()) verb.add(program, work);
}

int run_verb(int count, const char* const* arguments) {
  CLI::App program(kDescription, kProgram);
  Work work;
  describe_program(program, work);
  const std::vector<std::string> verbs = verbs_of(program);
  std::vector<std::string> words = words_of(count, arguments);
  take_help(words);
  const std::string first = words.empty() || words.front().starts_with('-') ? "" : words.front();
  if (!first.empty() && std::find(verbs.begin(), verbs.end(), first) == verbs.end()) return reject_verb(first, verbs);
  if (!first.empty()) {
    const auto project = project_words(program, first, words);
    if (!project) {
      complain(project.error());
      return kCannotJudge;
    }
    words.insert(words.begin() + 1, project->begin(), project->end());
  }
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& wish) {                                      // help or version
    std::ostringstream text;
    program.exit(wish, text, text);
    return print(text.str()) ? kFine : kCannotJudge;
  } catch (const CLI::ParseError& error) {
    complain(fmt::format("{}; see: osler{} --help", error.what(), first.empty() ? "" : " " + first));
    return kCannotJudge;
  }
  if (!work) return print(program.help()) ? kFine : kCannotJudge;
  return work();
}

}  // namespace

Command program_tree() {
  CLI::App program(kDescription, kProgram);
  Work work;
  describe_program(program, work);
  Command tree = command_tree(program);
  for (Command& verb : tree.verbs) {
    if (verb.name == "gallery") verb = gallery_command();  // a program of its own, which parses its own words
  }
  return tree;
}

int run_program(int count, const char* const* arguments) {
  // A reader that goes away (osler ... | head) is no fault of ours: writing then fails quietly.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_verb(count, arguments);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
  }
  return kCannotJudge;
}

}  // namespace osler::cli
