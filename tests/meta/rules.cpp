// What a catalogue entry must have: names that match, no empty field, complete documentation.
#include "meta/rules.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

namespace osler::meta {
namespace {

bool blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; });
}

std::size_t word_count(std::string_view text) {
  std::size_t words = 0;
  bool inside = false;
  for (const unsigned char c : text) {
    words += std::isspace(c) == 0 && !inside ? 1 : 0;
    inside = std::isspace(c) == 0;
  }
  return words;
}

void require(bool holds, std::string otherwise, Problems& problems) {
  if (!holds) problems.push_back(std::move(otherwise));
}

void check_names(std::string_view stem, std::string_view id, std::string_view title, Problems& problems) {
  static const std::regex kebab("[a-z0-9]+(-[a-z0-9]+)*");
  require(std::regex_match(std::string(id), kebab), "the id '" + std::string(id) + "' is not kebab-case", problems);
  require(id == id_of_stem(stem), "the id '" + std::string(id) + "' is not the name of its file, " + std::string(stem),
          problems);
  require(!blank(title), "the title is empty", problems);
  require(title.empty() || title.back() != '.', "the title ends with a full stop", problems);
}

void append(Problems more, Problems& problems) {
  problems.insert(problems.end(), more.begin(), more.end());
}

void check_settings(const std::vector<Setting>& settings, Problems& problems) {
  std::set<std::string_view> seen;
  for (const Setting& setting : settings) {
    const std::string name(setting.name);
    require(!blank(name), "a setting has no name", problems);
    require(seen.insert(setting.name).second, "setting '" + name + "' is there twice", problems);
    require(std::isfinite(setting.value), "setting '" + name + "' has no finite default", problems);
    require(word_count(setting.reason) >= 3, "setting '" + name + "' gives no reason", problems);
  }
}

void check_pulls(const std::vector<Pull>& pulls, Problems& problems) {
  std::set<std::string_view> seen;
  for (const Pull& pull : pulls) {
    const std::string finding(pull.finding);
    require(find_finding(pull.finding) != nullptr, "it is pulled by '" + finding + "', which is no finding", problems);
    require(seen.insert(pull.finding).second, "it is pulled by '" + finding + "' twice", problems);
    require(pull.if_found != 0 || pull.if_absent != 0, "the pull of '" + finding + "' has no weight", problems);
    require(std::isfinite(pull.if_found) && std::isfinite(pull.if_absent),
            "the pull of '" + finding + "' is not finite", problems);
    require(!blank(pull.why), "the pull of '" + finding + "' gives no reason", problems);
  }
}

}  // namespace

std::string id_of_stem(std::string_view file_stem) {
  std::string id(file_stem);
  std::replace(id.begin(), id.end(), '_', '-');
  return id;
}

Problems problems_of(const Registered<Finding>& entry) {
  const Finding& finding = entry.descriptor;
  Problems problems;
  check_names(entry.file_stem, finding.id, finding.title, problems);
  require(!finding.needs.empty(), "it needs nothing: say what must be recorded for it", problems);
  require(finding.check != nullptr, "it has no check", problems);
  append(
      missing_sections(finding.doc, {"What it is", "Signature", "Why it matters", "When it is harmless", "References"}),
      problems);
  check_settings(finding.settings, problems);
  return problems;
}

Problems problems_of(const Registered<Cause>& entry) {
  const Cause& cause = entry.descriptor;
  Problems problems;
  check_names(entry.file_stem, cause.id, cause.title, problems);
  append(missing_sections(cause.doc, {"What happens", "How it shows", "What else looks like it", "References"}),
         problems);
  require(std::isfinite(cause.prior) && cause.prior != 0, "it has no prior", problems);
  require(!cause.pulls.empty() || cause.clues != nullptr, "nothing speaks for it or against it", problems);
  require(word_count(cause.settle) >= 3, "it does not say what would settle it", problems);
  require(cause.remedies != nullptr, "it has no remedies", problems);
  check_pulls(cause.pulls, problems);
  return problems;
}

Problems problems_of(const Registered<Format>& entry) {
  const Format& format = entry.descriptor;
  Problems problems;
  check_names(entry.file_stem, format.id, format.title, problems);
  // More than the bold openings that a new file comes with.
  require(word_count(format.doc) >= 20, "its documentation does not say who writes it, what is read, and its quirks",
          problems);
  require(format.refines.empty() || find_format(format.refines) != nullptr,
          "it refines '" + std::string(format.refines) + "', which is no format", problems);
  require(format.refines != format.id, "it refines itself", problems);
  require(format.sniff != nullptr, "it cannot sniff", problems);
  require(format.open != nullptr, "it cannot open", problems);
  require(format.run_of != nullptr, "it does not say which run a file belongs to", problems);
  return problems;
}

Problems missing_sections(std::string_view doc, const std::vector<std::string_view>& sections) {
  Problems problems;
  const std::string text = "\n" + std::string(doc);
  for (const std::string_view section : sections) {
    const std::string heading = "\n## " + std::string(section) + "\n";
    const std::size_t start = text.find(heading);
    if (start == std::string::npos) {
      problems.push_back("its documentation has no section '" + std::string(section) + "'");
      continue;
    }
    const std::size_t body = start + heading.size();
    const std::size_t end = std::min(text.find("\n## ", body - 1), text.size());
    if (word_count(std::string_view(text).substr(body, end - body)) < 2) {
      problems.push_back("section '" + std::string(section) + "' of its documentation is empty");
    }
  }
  return problems;
}

std::vector<std::string> local_links(std::string_view markdown) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  const std::string text(markdown);
  std::vector<std::string> targets;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), link); found != std::sregex_iterator(); ++found) {
    const std::string target = (*found)[1];
    if (target.find("://") == std::string::npos) targets.push_back(target);
  }
  return targets;
}

Problems missing_cases(const std::string& folder) {
  std::error_code failure;
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    names.insert(entry.path().filename().string());
  }
  if (failure) return {"it has no cases: neither a recipe nor a file in tests/cases makes " + folder};
  Problems problems;
  require(names.contains("expected.json"), "its cases have no expected.json", problems);
  for (const std::string kind : {"sick", "healthy", "borderline"}) {
    const auto first = names.lower_bound(kind + "-");
    require(first != names.end() && first->starts_with(kind + "-"), "it has no " + kind + " case", problems);
  }
  return problems;
}

}  // namespace osler::meta
