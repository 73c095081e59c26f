// osler store: makes the tables of a fleet's store, and keeps order among its runs.
#include "osler/store/store.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fleet/door.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler store init clickhouse://localhost/osler       make the tables; again after an update of Osler
  osler store init clickhouse://db1/osler --cluster main
                                                      on every replica of a cluster
  osler store runs clickhouse://localhost/osler       what is there, the newest change first
  osler store tag RUN baseline --store ...            RUN is a name, the end of one, or a number
  osler store rename RUN "wide net" --store ...
  osler store archive RUN --store ...                 out of lists; --undo brings it back
  osler store remove RUN --store ...                  from the store, until its files are shipped anew
  osler store keep 90 --store ...                     days that the project's runs are kept after their last change
  osler store prune --store ...                       remove runs whose time is over (for cron)

The password comes from OSLER_STORE_PASSWORD or --password-file, the address from OSLER_STORE where none is named.
The guide is docs/guides/fleet.md.)";

struct Arguments {
  DoorWords door;
  std::string cluster;
  std::string run;
  std::string word;
  std::string tag;
  bool undo = false;
  bool json = false;
  bool archived = false;
  bool all_projects = false;
};

int fail(const Error& error) {
  complain(describe(error));
  return kCannotJudge;
}

/// Opens the store and does something with it.
int with_store(const Arguments& arguments, const std::function<Result<void>(Store&, const StoreAddress&)>& act) {
  const auto door = open_door(arguments.door);
  if (!door) return fail(door.error());
  Store store(door->address, door->access);
  const auto done = act(store, door->address);
  return done ? kFine : fail(done.error());
}

/// The same with the run that was named.
int with_run(const Arguments& arguments, const std::function<Result<void>(Store&, const RunCard&)>& act) {
  return with_store(arguments, [&](Store& store, const StoreAddress& address) -> Result<void> {
    const auto card = store.find(arguments.run, address.project);
    if (!card) return card.error();
    return act(store, *card);
  });
}

int run_init(const Arguments& arguments) {
  return with_store(arguments, [&](Store& store, const StoreAddress& address) -> Result<void> {
    const auto before = store.init({arguments.cluster});
    if (!before) return before.error();
    const std::string what = *before == kStoreSchema ? "is up to date"
                             : *before == 0          ? "is made"
                                                     : "was brought up to date";
    complain(fmt::format("{}: the store {} (version {})", to_string(address), what, kStoreSchema));
    return {};
  });
}

std::string in_json(const RunCard& card) {
  const nlohmann::ordered_json json = {
      {"id", to_text(card.id)},  {"project", card.project}, {"name", card.name},
      {"machine", card.machine}, {"format", card.format},   {"points", card.points},
      {"changed", card.changed}, {"tags", card.tags},       {"archived", card.archived}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string in_text(const RunCard& card, bool unicode) {
  std::string tags;
  for (const std::string& tag : card.tags) tags += " #" + tag;
  return fmt::format("{}  {:<12} {:>14}  {}{}{}", to_text(card.id), layout::clean(card.project, unicode),
                     layout::counted(card.points, "point"), layout::clean(card.name, unicode),
                     layout::clean(tags, unicode), card.archived ? " (archived)" : "");
}

int run_runs(const Arguments& arguments) {
  return with_store(arguments, [&](Store& store, const StoreAddress& address) -> Result<void> {
    const auto cards = store.runs({arguments.all_projects ? "" : address.project, arguments.tag, arguments.archived});
    if (!cards) return cards.error();
    const bool unicode = text_options({}).unicode;
    std::string text;
    for (const RunCard& card : *cards) text += (arguments.json ? in_json(card) : in_text(card, unicode)) + "\n";
    if (cards->empty() && !arguments.json) complain("no runs yet: osler ship brings them");
    if (!print(text)) return Error{ErrorCode::io, "not everything was written", "standard output"};
    return {};
  });
}

int run_keep(const Arguments& arguments) {
  return with_store(arguments, [&](Store& store, const StoreAddress& address) -> Result<void> {
    if (arguments.word == "ever") return store.set_retention(address.project, std::nullopt);
    int days = 0;
    const auto* const end = arguments.word.data() + arguments.word.size();
    if (std::from_chars(arguments.word.data(), end, days).ptr != end || days < 1) {
      return Error{ErrorCode::invalid_argument, "is no number of days, and not 'ever'", arguments.word};
    }
    return store.set_retention(address.project, days);
  });
}

int run_prune(const Arguments& arguments) {
  return with_store(arguments, [&](Store& store, const StoreAddress&) -> Result<void> {
    const auto removed = store.prune();
    if (!removed) return removed.error();
    complain(fmt::format("{} removed", layout::counted(*removed, "run")));
    return {};
  });
}

/// A verb below the verb, whose store is named by --store or, for those that need no other word, as it is.
CLI::App* add_part(CLI::App& verb, Work& work, const std::shared_ptr<Arguments>& arguments, const char* name,
                   const char* what, int (*act)(const Arguments&), bool plain_address) {
  CLI::App* part = verb.add_subcommand(name, what);
  add_door_options(*part, arguments->door, plain_address ? "STORE,--store" : "--store");
  part->callback([arguments, &work, act] { work = [arguments, act] { return act(*arguments); }; });
  return part;
}

CLI::App* add_run_part(CLI::App& verb, Work& work, const std::shared_ptr<Arguments>& arguments, const char* name,
                       const char* what, int (*act)(const Arguments&)) {
  CLI::App* part = add_part(verb, work, arguments, name, what, act, false);
  part->add_option("RUN", arguments->run, "A run: its name, the end of its name, or its number")
      ->required()
      ->type_name("");
  return part;
}

void add_for_runs(CLI::App& verb, Work& work, const std::shared_ptr<Arguments>& arguments) {
  add_run_part(verb, work, arguments, "rename", "Give a run another name",
               [](const Arguments& words) {
                 return with_run(words,
                                 [&](Store& store, const RunCard& card) { return store.rename(card.id, words.word); });
               })
      ->add_option("NAME", arguments->word, "Its new name")
      ->required()
      ->type_name("");
  CLI::App* tag = add_run_part(verb, work, arguments, "tag", "Put a tag on a run", [](const Arguments& words) {
    return with_run(words,
                    [&](Store& store, const RunCard& card) { return store.tag(card.id, words.word, !words.undo); });
  });
  tag->add_option("TAG", arguments->word, "The tag")->required()->type_name("");
  tag->add_flag("--undo", arguments->undo, "Take it off");
  add_run_part(verb, work, arguments, "archive", "Take a run out of lists", [](const Arguments& words) {
    return with_run(words, [&](Store& store, const RunCard& card) { return store.archive(card.id, !words.undo); });
  })->add_flag("--undo", arguments->undo, "Bring it back");
  add_run_part(verb, work, arguments, "remove", "Remove a run with everything stored of it",
               [](const Arguments& words) {
                 return with_run(words, [&](Store& store, const RunCard& card) { return store.remove(card.id); });
               });
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("store", "Keep the runs of a team in a ClickHouse database");
  verb->footer(kFooter);
  verb->require_subcommand(1);
  auto arguments = std::make_shared<Arguments>();
  add_part(*verb, work, arguments, "init", "Make the tables, or bring them up to date", run_init, true)
      ->add_option("--cluster", arguments->cluster, "Make them on every replica of this cluster")
      ->type_name("NAME");
  CLI::App* runs = add_part(*verb, work, arguments, "runs", "List the runs, the newest change first", run_runs, true);
  runs->add_flag("--json", arguments->json, "One JSON object for each run");
  runs->add_flag("--archived", arguments->archived, "Archived ones, too");
  runs->add_flag("--all-projects", arguments->all_projects, "Those of every project");
  runs->add_option("--tag", arguments->tag, "Only those with this tag")->type_name("TAG");
  add_for_runs(*verb, work, arguments);
  add_part(*verb, work, arguments, "keep", "Set how long the project's runs are kept", run_keep, false)
      ->add_option("DAYS", arguments->word, "Days after the last change, or 'ever'")
      ->required()
      ->type_name("");
  add_part(*verb, work, arguments, "prune", "Remove runs that have been kept long enough", run_prune, true);
}

}  // namespace

namespace verb {
Verb store() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
