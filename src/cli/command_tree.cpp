// Walking through CLI11's description of the command line.
#include "cli/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "cli/help.h"
#include "cli/listing.h"
#include "cli/wishes.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/guide.h"
#include "osler/formats/format.h"
#include "osler/gallery/patient.h"

namespace osler::cli {
namespace {

using Words = std::vector<std::string>;

CommandOption described(const CLI::Option& option) {
  CommandOption known;
  for (const std::string& name : option.get_snames()) known.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) known.names.push_back("--" + name);
  if (known.names.empty()) known.names.push_back(option.get_single_name());
  known.value = option.get_items_expected_max() == 0 ? "" : value_name(option);
  known.description = option.get_description();
  known.standard = option.get_default_str();
  known.repeats = option.get_items_expected_max() > 1;
  known.required = option.get_required();
  return known;
}

/// Options whose value is one of few words; the words stand in the option's description, too.
struct WordOption {
  std::string_view option;
  std::vector<std::string_view> words;
};

const std::array choices = {
    WordOption{"--theme", {"light", "dark"}},
    WordOption{"--alert-on", {"note", "warning", "critical"}},
    WordOption{"--stop-on", {"note", "warning", "critical"}},
    WordOption{"--kind", {"curves", "gradients", "heatmap", "ridge", "overview"}},
    WordOption{"--webhook-style", {"osler", "slack", "discord", "teams"}},
    WordOption{"--align", {"auto", "step", "epoch", "tokens"}},
};

/// Everything that `osler explain` has a page on, without the settings, which are too many to choose from.
Words pages() {
  Words words = {"tree"};
  for (const auto& some : {finding_ids(), cause_ids(), format_ids()})
    words.insert(words.end(), some.begin(), some.end());
  for (const auto& [stem, guide] : guides()) words.emplace_back(guide.id);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

Words patient_ids() {
  Words words;
  for (const auto& [stem, patient] : gallery::patients()) words.emplace_back(patient.id);
  return words;
}

Words words_by_place(const std::string& verb) {
  if (verb == "explain") return pages();
  if (verb == "list") return list_kinds();
  if (verb == "gallery") return patient_ids();
  if (verb == "completion") return {"bash", "fish", "zsh"};
  return {};
}

}  // namespace

Command command_tree(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? command.places : command.options).push_back(described(*option));
  }
  for (const CLI::App* verb : app.get_subcommands({})) command.verbs.push_back(command_tree(*verb));
  return command;
}

Words known_words(const std::string& verb, const CommandOption& option) {
  const std::string& name = option.names.back();
  if (!name.starts_with('-')) return words_by_place(verb);
  if (name == "--format") return format_ids();
  if (name == "--only" || name == "--finding") return finding_ids();
  if (name == "--to" && option.value == "FORMAT") return {"csv", "jsonl", "osler", "tensorboard", "wandb"};
  if (name == "--fail-on" && verb == "compare") return {"never", "not-better", "worse"};
  if (name == "--fail-on") return {"note", "warning", "critical"};
  const auto choice =
      std::find_if(choices.begin(), choices.end(), [&](const WordOption& it) { return it.option == name; });
  if (choice == choices.end()) return {};
  return {choice->words.begin(), choice->words.end()};
}

}  // namespace osler::cli
