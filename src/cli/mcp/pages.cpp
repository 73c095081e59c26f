// The catalogue as resources, made of the same entries as `osler explain`.
#include "cli/mcp/pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.h"
#include "cli/wishes.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/guide.h"
#include "osler/formats/format.h"
#include "osler/report/tree.h"

namespace osler::cli::mcp {
namespace {

constexpr std::string_view kScheme = "osler://";
constexpr std::string_view kTree = "tree";

std::string heading(std::string_view title, std::string_view kind, std::string_view id) {
  return fmt::format("# {}\n\n`{}` ({})\n\n", title, id, kind);
}

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \n");
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(" \n") + 1 - from));
}

std::string finding_page(const Finding& finding) {
  std::string text = heading(finding.title, "finding", finding.id) + trimmed(finding.doc) + "\n";
  if (!finding.settings.empty()) text += "\n## Settings\n\n| name | default | reason |\n|---|---|---|\n";
  for (const Setting& setting : finding.settings) {
    text += fmt::format("| `{}.{}` | {:g} | {} |\n", finding.id, setting.name, setting.value, setting.reason);
  }
  return text;
}

std::string cause_page(const Cause& cause) {
  std::string text = heading(cause.title, "cause", cause.id) + trimmed(cause.doc) + "\n";
  if (!cause.settle.empty()) {
    text += fmt::format("\n## What settles it\n\n{}{}\n", cause.settle,
                        cause.settle_probe.empty() ? "" : fmt::format(" (probe: {})", cause.settle_probe));
  }
  if (!cause.pulls.empty()) text += "\n## Findings that speak for or against it\n\n";
  for (const Pull& pull : cause.pulls) {
    text += fmt::format("- {} {}: {}\n", pull.if_found >= 0 ? "for" : "against", pull.finding, pull.why);
  }
  return text;
}

std::string tree_page() {
  TextOptions plain;
  plain.unicode = false;
  return "# The questions in the order a physician asks them\n\n```\n" + render_tree(plain) + "```\n";
}

/// The page of one kind with that id; empty where there is none.
std::string page_of(std::string_view kind, std::string_view id) {
  if (kind == "finding") {
    if (const Finding* const finding = find_finding(id)) return finding_page(*finding);
  } else if (kind == "cause") {
    if (const Cause* const cause = find_cause(id)) return cause_page(*cause);
  } else if (kind == "format") {
    if (const Format* const format = find_format(id)) {
      return heading(format->title, kind, id) + trimmed(format->doc) + "\n";
    }
  } else if (kind == "guide") {
    if (id == kTree) return tree_page();
    if (const Guide* const guide = find_guide(id)) return heading(guide->title, kind, id) + trimmed(guide->doc) + "\n";
  }
  return {};
}

template <typename Table>
void add_pages(const Table& table, std::string_view kind, std::vector<Page>& all) {
  for (const auto& [stem, entry] : table) {
    all.push_back({fmt::format("{}{}/{}", kScheme, kind, entry.id), std::string(kind), std::string(entry.id),
                   std::string(entry.title)});
  }
}

/// Heading and the sections that say what it is and when it is harmless; of pages without them, the first section.
std::string short_form(const std::string& page) {
  std::string text;
  int sections = 0;
  bool kept = true;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size() - 1);
    const std::string_view line = std::string_view(page).substr(at, end + 1 - at);
    if (line.starts_with("## ")) kept = ++sections == 1 || line.starts_with("## When it is harmless");
    if (kept) text += line;
    at = end + 1;
  }
  return sections > 1 ? text + "(the rest: detail \"full\")\n" : text;
}

std::string setting_text(const std::string& id) {
  const std::size_t dot = id.find('.');
  const Finding* const finding = dot == std::string::npos ? nullptr : find_finding(id.substr(0, dot));
  if (finding == nullptr) return {};
  for (const Setting& setting : finding->settings) {
    if (setting.name != id.substr(dot + 1)) continue;
    return fmt::format("{} (a setting of {}), {:g} unless set: {}\n", id, finding->id, setting.value, setting.reason);
  }
  return {};
}

}  // namespace

const std::vector<Page>& pages() {
  static const std::vector<Page> all = [] {
    std::vector<Page> made;
    add_pages(findings(), "finding", made);
    add_pages(causes(), "cause", made);
    add_pages(formats(), "format", made);
    add_pages(guides(), "guide", made);
    made.push_back({"osler://guide/tree", "guide", std::string(kTree), "The diagnosis tree"});
    return made;
  }();
  return all;
}

const std::vector<PageKind>& page_kinds() {
  static const std::vector<PageKind> all = {
      {"finding", "what Osler can see in the numbers of a training"},
      {"cause", "what may be behind it, and what settles the question"},
      {"format", "a log format, what is read from it"},
      {"guide", "how to read one kind of training; tree: the questions in their order"},
  };
  return all;
}

Result<std::string> read_page(std::string_view uri) {
  if (uri.starts_with(kScheme)) {
    const std::string_view rest = uri.substr(kScheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view id = rest.substr(std::min(slash + 1, rest.size()));
    if (std::string page = page_of(rest.substr(0, slash), id); !page.empty()) return page;
  }
  return Error{ErrorCode::not_found, "there is no such page", std::string(uri)};
}

Result<std::string> explain(const std::string& id, bool whole) {
  std::string text;
  for (const PageKind& kind : page_kinds()) {
    const std::string page = page_of(kind.name, id);
    if (page.empty()) continue;
    text += (text.empty() ? "" : "\n") + (whole ? page : short_form(page));
  }
  text += setting_text(id);
  if (!text.empty()) return text;
  std::vector<std::string> known = setting_names();
  for (const Page& page : pages()) known.push_back(page.id);
  return Error{ErrorCode::not_found, fmt::format("there is no page on '{}'{}", id, did_you_mean(id, known)), ""};
}

}  // namespace osler::cli::mcp
