// Completions for bash, zsh and fish: verbs, options, and values where they are known; paths otherwise.
#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace osler::cli {
namespace {

using Words = std::vector<std::string>;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// In single quotes, as bash and zsh read them.
std::string quoted(const std::string& text) {
  return "'" + replaced(text, "'", R"('\'')") + "'";
}

Words names_of(const std::vector<Command>& verbs) {
  Words names;
  for (const Command& verb : verbs) names.push_back(verb.name);
  return names;
}

Words names_of(const std::vector<CommandOption>& options) {
  Words names;
  for (const CommandOption& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// What may stand where a word begins that is no option: verbs of the command, and values by their place.
Words words_of(const Command& command) {
  Words words = names_of(command.verbs);
  for (const CommandOption& place : command.places) {
    const Words known = known_words(command.name, place);
    words.insert(words.end(), known.begin(), known.end());
  }
  return words;
}

std::string listed(const Words& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// `way` is the words that lead to the command, "baseline learn" for example.
void bash_cases(const Command& command, const std::string& way, std::string& values, std::string& words) {
  for (const CommandOption& option : command.options) {
    if (option.value.empty()) continue;
    Words patterns;
    for (const std::string& name : option.names) patterns.push_back(fmt::format("'{} {}'", way, name));
    fmt::format_to(std::back_inserter(values), "    {}) words={} ;;\n", fmt::join(patterns, "|"),
                   quoted(listed(known_words(command.name, option))));
  }
  fmt::format_to(std::back_inserter(words), "        '{}') words={} options={} ;;\n", way,
                 quoted(listed(words_of(command))), quoted(listed(names_of(command.options))));
  for (const Command& verb : command.verbs) bash_cases(verb, way + " " + verb.name, values, words);
}

/// The ways that lead to commands with verbs of their own or to verbs: what bash compares the words typed so far with.
void bash_ways(const Command& command, const std::string& way, Words& ways) {
  for (const Command& verb : command.verbs) {
    ways.push_back(quoted(way + " " + verb.name));
    bash_ways(verb, way + " " + verb.name, ways);
  }
}

/// In the brackets of zsh's _arguments.
std::string zsh_words(std::string text) {
  for (const char* mark : {"\\", "[", "]", ":"}) text = replaced(std::move(text), mark, std::string("\\") + mark);
  return text;
}

std::string zsh_value(const std::string& verb, const CommandOption& option) {
  const std::string label = option.value.empty() ? zsh_words(option.names.back()) : zsh_words(option.value);
  if (const Words known = known_words(verb, option); !known.empty()) {
    return fmt::format(":{}:({})", label, fmt::join(known, " "));
  }
  return fmt::format(":{}:_files{}", label, option.value == "DIR" ? " -/" : "");
}

std::string zsh_argument(const std::string& verb, const CommandOption& option) {
  const std::string value = option.value.empty() ? "" : zsh_value(verb, option);
  const std::string tail = "[" + zsh_words(option.description) + "]" + value;
  std::string lines;
  for (const std::string& name : option.names) {
    const std::string others = option.repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    fmt::format_to(std::back_inserter(lines), " \\\n    {}", quoted(others + name + tail));
  }
  return lines;
}

void zsh_function(const Command& command, const std::string& name, std::string& text) {
  for (const Command& verb : command.verbs) zsh_function(verb, name + "_" + verb.name, text);
  std::string arguments;
  for (const CommandOption& option : command.options) arguments += zsh_argument(command.name, option);
  if (command.verbs.empty()) {
    for (const CommandOption& place : command.places) {
      const std::string before = place.repeats ? "*" : "";
      fmt::format_to(std::back_inserter(arguments), " \\\n    {}", quoted(before + zsh_value(command.name, place)));
    }
    fmt::format_to(std::back_inserter(text), "{}() {{\n  _arguments{}\n}}\n\n", name, arguments);
    return;
  }
  std::string verbs;
  for (const Command& verb : command.verbs) {
    fmt::format_to(std::back_inserter(verbs), "    {}\n", quoted(verb.name + ":" + verb.description));
  }
  fmt::format_to(std::back_inserter(text),
                 "{0}() {{\n  local state line curcontext=\"$curcontext\"\n  local -a verbs\n  verbs=(\n{1}  )\n"
                 "  _arguments -C{2} \\\n    '1: :->verb' \\\n    '*:: :->rest'\n"
                 "  case $state in\n    verb) _describe verb verbs ;;\n"
                 "    rest) (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;\n  esac\n}}\n\n",
                 name, verbs, arguments);
}

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

void fish_option(const CommandOption& option, const std::string& start, const std::string& verb, std::string& text) {
  text += start;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) {
    const Words known = known_words(verb, option);
    text += known.empty() ? " -r -F" : " -x -a " + fish_quoted(listed(known));
  }
  text += " -d " + fish_quoted(option.description) + "\n";
}

/// `seen` is fish's question whether the command line has come to this command.
void fish_lines(const Command& command, const std::string& seen, std::string& text) {
  const std::string start = "complete -c osler" + (seen.empty() ? "" : " -n " + fish_quoted(seen));
  for (const CommandOption& option : command.options) {
    fish_option(option, seen.empty() ? start + " -n __fish_use_subcommand" : start, command.name, text);
  }
  for (const CommandOption& place : command.places) {
    const Words known = known_words(command.name, place);
    if (!known.empty()) text += start + " -f -a " + fish_quoted(listed(known)) + "\n";
  }
  const std::string others = fmt::format("not __fish_seen_subcommand_from {}", fmt::join(names_of(command.verbs), " "));
  for (const Command& verb : command.verbs) {
    const std::string here = seen.empty() ? "__fish_use_subcommand" : seen + "; and " + others;
    text += "complete -c osler -f -n " + fish_quoted(here) + " -a " + verb.name + " -d " +
            fish_quoted(verb.description) + "\n";
    fish_lines(verb, (seen.empty() ? "" : seen + "; and ") + "__fish_seen_subcommand_from " + verb.name, text);
  }
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::string values;
  std::string words;
  Words ways;
  bash_cases(program, program.name, values, words);
  bash_ways(program, program.name, ways);
  return fmt::format(R"(# Completion of osler for bash, written by `osler completion bash`.
_osler() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD - 1]}}" way={0} words="" options="" i
  # bash takes --option=value apart at the sign.
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" ]]; then
    previous="${{COMP_WORDS[COMP_CWORD - 2]}}"
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$way ${{COMP_WORDS[i]}}" in
      {1}) way="$way ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$way $previous" in
{2}    *)
      case "$way" in
{3}      esac
      [[ "$current" == -* ]] && words="$options"
      ;;
  esac
  # Where nothing is offered bash offers paths.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _osler {0}
)",
                     program.name, fmt::join(ways, "|"), values, words);
}

std::string zsh_completion(const Command& program) {
  std::string text = "#compdef osler\n# Completion of osler for zsh, written by `osler completion zsh`.\n\n";
  zsh_function(program, "_" + program.name, text);
  return text + "if [[ \"$funcstack[1]\" == _osler ]]; then\n  _osler \"$@\"\nelse\n  compdef _osler osler\nfi\n";
}

std::string fish_completion(const Command& program) {
  std::string text = "# Completion of osler for fish, written by `osler completion fish`.\n";
  fish_lines(program, "", text);
  return text;
}

}  // namespace osler::cli
