// osler list: everything Osler can find, explain and read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/listing.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler list                       everything
  osler list findings              what Osler can find, and what each needs:
                                   curve (any log), layer, act, batch, live, probe
  osler list formats               the log formats it reads
  osler list findings --json       with every setting and its reason)";

struct Arguments {
  std::string kind;
  bool json = false;
  Look look;
};

int run_list(const Arguments& arguments) {
  const std::vector<std::string>& kinds = list_kinds();
  if (!arguments.kind.empty() && std::find(kinds.begin(), kinds.end(), arguments.kind) == kinds.end()) {
    complain(fmt::format("cannot list '{}'{}; there are: {}", arguments.kind, did_you_mean(arguments.kind, kinds),
                         fmt::join(kinds, ", ")));
    return kCannotJudge;
  }
  const TextOptions options = text_options(arguments.look);
  std::string text;
  if (arguments.json) {
    text = list_json(arguments.kind.empty() ? kinds : std::vector{arguments.kind});
  } else {
    text = arguments.kind.empty() ? list_catalogue(options) : list_text(arguments.kind, options);
  }
  return print(text) ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("list", "List everything Osler can find, explain and read");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("WHAT", arguments->kind, "findings, causes, formats or roles; without it, all")->type_name("");
  verb->add_flag("--json", arguments->json, "Print JSON");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_list(*arguments); }; });
}

}  // namespace

namespace verb {
Verb list() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
