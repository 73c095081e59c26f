// The command line as plain data, taken from CLI11's own description of it: completions and manual pages are made of
// it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace osler::cli {

/// An option, or a word that a command takes by its place.
struct CommandOption {
  std::vector<std::string> names;  ///< "-o" and "--out"; for a word by its place what help calls it
  std::string value;               ///< what stands for its value in help; empty for a flag
  std::string description;
  std::string standard;  ///< what holds without it, where help says so
  bool repeats = false;
  bool required = false;
};

/// The program, one of its verbs, or a verb of a verb.
struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<CommandOption> options;
  std::vector<CommandOption> places;
  std::vector<Command> verbs;
};

/// What `app` describes; hidden options are left out.
[[nodiscard]] Command command_tree(const CLI::App& app);

/// The words that may stand for the value of an option, or of a word by its place, of the verb `verb`; empty where any
/// may, a path for example.
[[nodiscard]] std::vector<std::string> known_words(const std::string& verb, const CommandOption& option);

}  // namespace osler::cli
