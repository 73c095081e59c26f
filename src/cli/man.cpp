// Manual pages in troff's man macros.
#include "cli/man.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "osler/base/version.h"

namespace osler::cli {
namespace {

/// Text as troff shows it: no character has a meaning of its own.
std::string plain(std::string_view text) {
  std::string safe;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    line_begins = c == '\n';
  }
  return safe;
}

std::string heading(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

std::string title(const std::string& page, std::string_view words) {
  return fmt::format(".TH {} 1 \"\" \"Osler {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", heading(page), version(),
                     plain(page), plain(words));
}

void describe_options(const std::vector<CommandOption>& options, std::string& text) {
  for (const CommandOption& option : options) {
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
    if (!option.value.empty()) names += " \\fI" + plain(option.value) + "\\fR";
    fmt::format_to(std::back_inserter(text), ".TP\n{}\n{}", names, plain(option.description));
    if (!option.standard.empty()) text += plain(" (without it: " + option.standard + ")");
    text += "\n";
  }
}

std::string synopsis(const std::string& words, const Command& command) {
  std::string text = ".SH SYNOPSIS\n\\fB" + plain(words) + "\\fR";
  if (!command.options.empty()) text += " [\\fIOPTIONS\\fR]";
  if (!command.verbs.empty()) text += " \\fIVERB\\fR ...";
  for (const CommandOption& place : command.places) {
    const std::string name = "\\fI" + plain(place.names.front()) + "\\fR" + (place.repeats ? "..." : "");
    text += place.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

/// The text below the options in help: paragraphs, of which those that begin with a word and a colon are tables.
std::string footer(const std::string& words) {
  std::string text;
  std::istringstream lines(words);
  bool table = false;
  const auto end_table = [&] {
    if (table) text += ".fi\n";
    table = false;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      end_table();
      text += ".PP\n";
    } else if (line.ends_with(':') && !line.starts_with(' ')) {
      end_table();
      line.pop_back();
      text += ".SH " + heading(line) + "\n.nf\n";
      table = true;
    } else {
      text += plain(line) + "\n";
    }
  }
  end_table();
  return text;
}

void describe(const Command& command, std::string& text) {
  if (!command.places.empty()) text += ".SH ARGUMENTS\n";
  describe_options(command.places, text);
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  describe_options(command.options, text);
}

}  // namespace

std::string man_page(const Command& program) {
  std::string text = title(program.name, "the physician for neural-network training");
  text += synopsis(program.name, program) + ".SH DESCRIPTION\n" + plain(program.description) + "\n";
  text += ".SH VERBS\n";
  for (const Command& verb : program.verbs) {
    fmt::format_to(std::back_inserter(text), ".TP\n\\fB{}\\fR\n{}; see \\fB{}\\-{}\\fR(1).\n", plain(verb.name),
                   plain(verb.description), plain(program.name), plain(verb.name));
  }
  describe(program, text);
  return text + footer(program.footer);
}

std::string man_page(const Command& program, const Command& verb) {
  const std::string words = program.name + " " + verb.name;
  std::string text = title(program.name + "-" + verb.name, verb.description);
  text += synopsis(words, verb) + ".SH DESCRIPTION\n" + plain(verb.description) + ".\n";
  describe(verb, text);
  for (const Command& inner : verb.verbs) {
    fmt::format_to(std::back_inserter(text), ".SH {} {}\n{}.\n", heading(verb.name), heading(inner.name),
                   plain(inner.description));
    describe_options(inner.places, text);
    describe_options(inner.options, text);
  }
  return text + footer(verb.footer) + ".SH SEE ALSO\n\\fB" + plain(program.name) + "\\fR(1)\n";
}

}  // namespace osler::cli
