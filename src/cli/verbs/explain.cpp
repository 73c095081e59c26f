// osler explain: the catalogue's page on a finding, a cause, a format or a setting.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/listing.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/guide.h"
#include "osler/formats/format.h"
#include "osler/report/render.h"
#include "osler/report/tree.h"
#include "report/document.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler explain                         everything there is a page on
  osler explain overfitting             a finding: signature, when it is harmless, settings, causes
  osler explain lr-too-high             a cause: what speaks for and against it, what would settle it
  osler explain tree                    the questions in the order a physician asks them
  osler explain rl                      how to read reinforcement learning; also llm, gan
  osler explain csv                     a log format
  osler explain loss-diverging.stays    a setting)";

struct Arguments {
  std::string id;
  Look look;
};

std::string setting_page(const std::string& id, const TextOptions& options) {
  const std::size_t dot = id.find('.');
  if (dot == std::string::npos) return {};
  const Finding* finding = find_finding(id.substr(0, dot));
  if (finding == nullptr) return {};
  for (const Setting& setting : finding->settings) {
    if (setting.name == id.substr(dot + 1)) return render_page(*finding, setting, options);
  }
  return {};
}

std::string format_page(const Format& format, const TextOptions& options) {
  return layout::render_document({format.title, "format", format.id}, format.doc, options);
}

/// Every page with that id: a finding and a cause may share one, and then both are shown.
std::string pages_of(const std::string& id, const TextOptions& options) {
  std::vector<std::string> pages;
  if (const Finding* finding = find_finding(id)) pages.push_back(render_page(*finding, options));
  if (const Cause* cause = find_cause(id)) pages.push_back(render_page(*cause, options));
  if (const Format* format = find_format(id)) pages.push_back(format_page(*format, options));
  if (const Guide* guide = find_guide(id)) {
    pages.push_back(layout::render_document({guide->title, "guide", guide->id}, guide->doc, options));
  }
  if (std::string page = setting_page(id, options); !page.empty()) pages.push_back(std::move(page));
  return fmt::format("{}", fmt::join(pages, "\n"));
}

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const auto& some : {finding_ids(), cause_ids(), format_ids(), setting_names()}) {
    ids.insert(ids.end(), some.begin(), some.end());
  }
  for (const auto& [stem, guide] : guides()) ids.emplace_back(guide.id);
  return ids;
}

int run_explain(const Arguments& arguments) {
  const TextOptions options = text_options(arguments.look);
  if (arguments.id.empty()) return print(list_catalogue(options)) ? kFine : kCannotJudge;
  if (arguments.id == "tree") return print(render_tree(options)) ? kFine : kCannotJudge;
  const std::string text = pages_of(arguments.id, options);
  if (!text.empty()) return print(text) ? kFine : kCannotJudge;
  const std::string hint = did_you_mean(arguments.id, all_ids());
  complain(fmt::format("there is no page on '{}'{}", arguments.id, hint.empty() ? "; see: osler explain" : hint));
  return kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("explain", "Explain a finding, a cause, a format or a setting");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("ID", arguments->id, "What to explain; without it, everything there is a page on")->type_name("");
  verb->add_flag("-v,--verbose", arguments->look.verbose, "Also print the checks behind each question of the tree");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_explain(*arguments); }; });
}

}  // namespace

namespace verb {
Verb explain() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
