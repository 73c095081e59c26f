// What answers programs and not people: the library behind `osler serve` and the tools of `osler mcp`, within this
// process and without a connection.
#include "mutate/interfaces.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/mcp/session.h"
#include "osler/base/file_system.h"
#include "server/library.h"

namespace osler::mutate {
namespace {

using nlohmann::json;
using server::Library;

/// What is wrong with one answer of the server about a run.
std::string wrong_with(Library& library, const std::string& id, Library::Answer which) {
  const auto answer = library.answer(id, which);
  // A run that was listed and cannot be read is told as an error.
  return !answer || json::accept(**answer) ? "" : "an answer of the server is no JSON";
}

}  // namespace

Finding ask_server(const Bench& bench) {
  Library library(real_file_system(), {bench.folder()});
  library.search();
  library.examine_changed({});
  if (!json::accept(*library.runs_json())) return {"the server's list of runs is no JSON", true};
  if (!json::accept(library.table_json())) return {"the server's table is no JSON", true};
  for (const dashboard::Card& card : library.cards()) {
    for (const auto which : {Library::Answer::run, Library::Answer::report, Library::Answer::heat}) {
      if (std::string problem = wrong_with(library, card.id, which); !problem.empty()) return {problem, true};
    }
  }
  // The sound log beside it is always there.
  return {library.cards().empty() ? "the server hides a run" : "", library.cards().size() > 1};
}

Finding ask_assistant(const Bench& bench) {
  auto files = cli::mcp::ConfinedFiles::below({bench.folder().string()});
  if (!files) return {describe(files.error()), false};
  cli::mcp::Session session(cli::mcp::Tools(std::move(*files), {}));
  static_cast<void>(session.answer(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
      R"("clientInfo":{"name":"mutants","version":"1"}}})"));
  bool read = false;
  const json paths[] = {{{"path", bench.log()}}, {{"a", bench.sound()}, {"b", bench.log()}}, json::object()};
  for (const auto& [tool, which] : {std::pair("diagnose", 0), std::pair("compare", 1), std::pair("list_runs", 2)}) {
    const json call = {{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params", {{"name", tool}, {"arguments", paths[which]}}}};
    const auto answer = session.answer(call.dump());
    const json told = answer ? json::parse(*answer, nullptr, false) : json();
    if (!told.is_object() || !told.contains("result")) return {fmt::format("no answer of the tool {}", tool), true};
    read = read || !told["result"].value("isError", true);
  }
  return {"", read};
}

}  // namespace osler::mutate
