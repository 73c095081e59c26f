// The layout of help.
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace osler::cli {

HelpFormatter::HelpFormatter() {
  column_width(30);
  label("SUBCOMMAND", "VERB");
  label("Positionals", "What");
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  return "\n" + CLI::Formatter::make_usage(app, std::move(name));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  const std::size_t gap = text.find("\n\n\n");  // left by options that are hidden
  if (gap != std::string::npos) text.erase(gap, 1);
  return text;
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_subcommands(app, mode);
  constexpr std::string_view kTheirs = "\nSubcommands:\n";
  if (text.starts_with(kTheirs)) text.replace(0, kTheirs.size(), "\nVerbs:\n");
  return text;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string name = value_name(*option);
  std::string text = name.empty() ? "" : " " + name;
  if (!option->get_default_str().empty()) text += fmt::format(" ({})", option->get_default_str());
  return text;
}

void set_help(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Print this help and exit");
}

std::string value_name(const CLI::Option& option) {
  std::string name = option.get_type_name();
  name.resize(std::min(name.find(':'), name.size()));
  return name;
}

}  // namespace osler::cli
