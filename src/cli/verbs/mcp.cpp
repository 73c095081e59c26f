// osler mcp: a Model Context Protocol server on standard input and output, for coding assistants.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <span>

#include "cli/interrupt.h"
#include "cli/mcp/line_buffer.h"
#include "cli/mcp/session.h"
#include "cli/program.h"
#include "cli/stream.h"
#include "cli/terminal.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter =
    R"(For assistants that speak the Model Context Protocol; they start it themselves and talk to it over standard input and
output, one JSON message per line. Tools: list_runs, diagnose, explain, compare, plot (an image), probe_results.
Resources: the pages of the catalogue, such as osler://finding/overfitting. Answers are short unless asked for more.

It reads files below --root and nothing else, whatever links say, and it never writes.

Examples:
  osler mcp                                      logs below the current folder
  osler mcp --root ~/runs --root /data/logs      relative paths begin at the first
  claude mcp add osler -- osler mcp --root .     tell Claude Code about it; docs/guides/assistants.md has the others

It ends with its input, or on Ctrl-C.)";

struct Arguments {
  std::vector<std::string> roots;
};

bool send(const std::optional<std::string>& answer) {
  return !answer || print(*answer + "\n");
}

int run_mcp(const Arguments& arguments) {
  const auto files =
      mcp::ConfinedFiles::below(arguments.roots.empty() ? std::vector<std::string>{"."} : arguments.roots);
  if (!files) {
    complain(files.error());
    return kCannotJudge;
  }
  const Interrupt interrupt;
  const auto input = open_stream("-", interrupt.descriptor());
  if (!input) {
    complain(input.error());
    return kCannotJudge;
  }
  mcp::Session session(mcp::Tools(*files, interrupt.token()));
  mcp::LineBuffer lines(mcp::kLongestMessage);
  const auto reply = [&session](const mcp::LineBuffer::Line& line) {
    return send(line.too_long ? mcp::Session::refuse_length() : session.answer(line.text));
  };
  std::array<std::byte, 64 * 1024> bytes{};
  for (;;) {
    const auto length = (*input)->read(bytes);
    if (!length) {
      complain(length.error());
      return kCannotJudge;
    }
    if (*length == 0) break;
    lines.add({reinterpret_cast<const char*>(bytes.data()), *length});
    while (const auto line = lines.next()) {
      if (!reply(*line)) return kCannotJudge;
    }
  }
  const auto last = interrupt.happened() ? std::nullopt : lines.rest();
  return !last || reply(*last) ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("mcp", "Serve coding assistants over the Model Context Protocol");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("--root", arguments->roots, "Read only below this folder; repeatable; the current folder without it")
      ->type_name("DIR")
      ->allow_extra_args(false);
  verb->callback([arguments, &work] { work = [arguments] { return run_mcp(*arguments); }; });
}

}  // namespace

namespace verb {
Verb mcp() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
