// Reading osler.toml with CLI11's own reader of such files.
#include "cli/project.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>

#include "cli/suggest.h"
#include "osler/base/file_system.h"

namespace osler::cli {
namespace {

constexpr std::uint64_t kLongest = std::uint64_t{1} << 20U;
// A folder that came from somebody else must not run anything, end anything, or let anybody in.
constexpr std::array<std::string_view, 5> kNever = {"on-critical", "pid", "stop-on", "token", "token-file"};

Error wrong(const std::string& why) {
  return {ErrorCode::invalid_argument, why, kProjectFile};
}

/// Whether the file is the user's own, so that nobody else can say where alerts go.
bool is_own() {
  struct stat status {};
  if (::stat(kProjectFile, &status) != 0) return false;
  return (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & S_IWOTH) == 0;
}

const CLI::App* find_verb(const CLI::App& program, const std::string& name) {
  for (const CLI::App* verb : program.get_subcommands({})) {
    if (verb->get_name() == name) return verb;
  }
  return nullptr;
}

std::vector<std::string> option_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands({})) {
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_given(const std::vector<std::string>& given, const CLI::Option& option) {
  const auto& names = option.get_lnames();
  const auto& shorts = option.get_snames();
  return std::any_of(given.begin(), given.end(), [&](const std::string& word) {
    const bool by_long = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return word == "--" + name || word.starts_with("--" + name + "=");
    });
    return by_long || std::any_of(shorts.begin(), shorts.end(),
                                  [&](const std::string& name) { return word.starts_with("-" + name); });
  });
}

Result<void> check(const CLI::ConfigItem& item, const CLI::App& program, const std::vector<std::string>& names) {
  if (item.parents.size() > 1) return wrong(fmt::format("{}: sections cannot be nested", item.fullname()));
  if (!item.parents.empty() && find_verb(program, item.parents.front()) == nullptr) {
    return wrong(fmt::format("[{}] is not a verb of osler", item.parents.front()));
  }
  if (std::find(kNever.begin(), kNever.end(), item.name) != kNever.end()) {
    return wrong(fmt::format("{} can only be given on the command line", item.name));
  }
  if (std::find(names.begin(), names.end(), item.name) == names.end()) {
    return wrong(fmt::format("there is no option '{}'{}", item.name, did_you_mean(item.name, names)));
  }
  return {};
}

void add_words(const CLI::ConfigItem& item, const CLI::Option& option, std::vector<std::string>& words) {
  const bool flag = option.get_items_expected_max() == 0;
  for (const std::string& value : item.inputs) {
    // A project has logs of several kinds: a role is for those that have the series.
    const char* if_there = item.name == "role" && !value.starts_with('?') ? "?" : "";
    if (!flag) words.push_back(fmt::format("--{}={}{}", item.name, if_there, value));
    if (flag && value == "true") words.push_back("--" + item.name);
  }
}

}  // namespace

Result<std::vector<std::string>> project_words(const CLI::App& program, const std::string& verb,
                                               const std::vector<std::string>& given) {
  std::vector<std::string> words;
  if (!real_file_system().info(kProjectFile)) return words;
  if (!is_own()) return wrong("is not read: it belongs to another user, or everyone may write to it");
  const auto text = read_whole(real_file_system(), kProjectFile, kLongest);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(lines);
  } catch (const CLI::Error& error) {
    return wrong(error.what());
  }
  const CLI::App* chosen = find_verb(program, verb);
  const std::vector<std::string> names = option_names(program);
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // CLI11's marks of where a section begins and ends
    if (const auto fits = check(item, program, names); !fits) return fits.error();
    const bool here = item.parents.empty() || item.parents.front() == verb;
    const CLI::Option* option = chosen != nullptr && here ? chosen->get_option_no_throw("--" + item.name) : nullptr;
    if (option == nullptr) continue;
    const bool repeats = option->get_items_expected_max() > 1;
    if (repeats || !is_given(given, *option)) add_words(item, *option, words);
  }
  return words;
}

}  // namespace osler::cli
