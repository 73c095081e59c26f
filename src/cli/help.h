// HelpFormatter: help as osler and osler-gallery both print it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace osler::cli {

/// CLI11's help in our words, without its remarks on how options depend on each other and what it checks.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// Gives a program this help, and "-h" to ask for it.
void set_help(CLI::App& program);

/// What stands for the value of an option, without what CLI11 adds about its bounds: "N" for "N:INT in [0 - 9]".
[[nodiscard]] std::string value_name(const CLI::Option& option);

}  // namespace osler::cli
