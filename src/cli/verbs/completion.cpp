// osler completion: the script that teaches a shell to complete what is typed behind osler.
#include "cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/program.h"
#include "cli/terminal.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  source <(osler completion bash)                     in this shell; for every shell, into ~/.bashrc
  osler completion zsh > ~/.zfunc/_osler              with ~/.zfunc in fpath before compinit
  osler completion fish > ~/.config/fish/completions/osler.fish)";

int run_completion(const std::string& shell) {
  std::string script;
  if (shell == "bash") script = bash_completion(program_tree());
  if (shell == "zsh") script = zsh_completion(program_tree());
  if (shell == "fish") script = fish_completion(program_tree());
  if (!script.empty()) return print(script) ? kFine : kCannotJudge;
  complain(fmt::format("there are no completions for '{}'; there are: bash, fish, zsh", shell));
  return kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("completion", "Print the completions for a shell");
  auto shell = std::make_shared<std::string>();
  verb->footer(kFooter);
  verb->add_option("SHELL", *shell, "bash, fish or zsh")->required()->type_name("");
  verb->callback([shell, &work] { work = [shell] { return run_completion(*shell); }; });
}

}  // namespace

namespace verb {
Verb completion() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
