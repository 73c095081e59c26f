// osler man: the manual pages.
#include "cli/man.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/program.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler man | man -l -                       the page on the program
  osler man diagnose | man -l -              the page on a verb
  osler man diagnose > osler-diagnose.1      a file to install)";

int run_man(const std::string& name) {
  const Command program = program_tree();
  if (name.empty()) return print(man_page(program)) ? kFine : kCannotJudge;
  const auto verb = std::find_if(program.verbs.begin(), program.verbs.end(),
                                 [&](const Command& candidate) { return candidate.name == name; });
  if (verb != program.verbs.end()) return print(man_page(program, *verb)) ? kFine : kCannotJudge;
  std::vector<std::string> names;
  for (const Command& candidate : program.verbs) names.push_back(candidate.name);
  complain(fmt::format("there is no verb '{}'{}", name, did_you_mean(name, names)));
  return kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("man", "Print a manual page, for man to format");
  auto name = std::make_shared<std::string>();
  verb->footer(kFooter);
  verb->add_option("VERB", *name, "The verb; without it, the page on the program")->type_name("");
  verb->callback([name, &work] { work = [name] { return run_man(*name); }; });
}

}  // namespace

namespace verb {
Verb man() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
