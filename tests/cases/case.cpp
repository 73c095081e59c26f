// Reads expected.json files, writes them, and compares reports with them.
#include "cases/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "osler/base/file_system.h"

namespace osler::cases {
namespace {

constexpr std::uint64_t kExpectedBytes = 1024 * 1024;

using Json = nlohmann::ordered_json;

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::optional<Case::Kind> kind_of(const std::string& file) {
  for (const Case::Kind kind : {Case::Kind::sick, Case::Kind::healthy, Case::Kind::borderline}) {
    if (file.rfind(std::string(to_string(kind)) + "-", 0) == 0) return kind;
  }
  return std::nullopt;
}

Result<Case> parse_case(const std::string& finding, const std::string& file, const Json& entry) {
  Case expected;
  expected.finding = finding;
  expected.file = file;
  const std::optional<Case::Kind> kind = kind_of(file);
  if (!kind) return Error{ErrorCode::invalid_argument, "name must start with sick-, healthy- or borderline-", file};
  expected.kind = *kind;
  expected.about = entry.at("about").get<std::string>();
  expected.must_report = entry.value("must_report", std::vector<std::string>{});
  expected.must_not_report = entry.value("must_not_report", std::vector<std::string>{});
  expected.tolerate = entry.value("tolerate", std::vector<std::string>{});
  if (entry.contains("severity")) {
    expected.severity = severity_from(entry.at("severity").get<std::string>());
    if (!expected.severity) return Error{ErrorCode::invalid_argument, "unknown severity", file};
  }
  if (entry.contains("first_step")) {
    expected.first_step = {entry.at("first_step").at(0).get<std::int64_t>(),
                           entry.at("first_step").at(1).get<std::int64_t>()};
  }
  expected.qualifiers = entry.value("qualifiers", std::map<std::string, std::string>{});
  expected.causes = entry.value("causes", std::vector<std::string>{});
  return expected;
}

Result<void> read_folder(const std::string& folder, const std::string& finding, std::vector<Case>& cases) {
  const std::string path = folder + "/" + finding;
  Result<std::vector<std::string>> names = real_file_system().list(path);
  if (!names) return names.error();
  std::set<std::string> unexplained(names->begin(), names->end());
  unexplained.erase("README.md");
  if (unexplained.empty()) return {};
  const Result<std::string> text = read_whole(real_file_system(), path + "/expected.json", kExpectedBytes);
  if (!text) return text.error();
  unexplained.erase("expected.json");
  try {
    const Json root = Json::parse(*text);
    for (const auto& [file, entry] : root.items()) {
      Result<Case> expected = parse_case(finding, file, entry);
      if (!expected) return expected.error();
      if (unexplained.erase(file) == 0) return Error{ErrorCode::not_found, "no such file", path + "/" + file};
      cases.push_back(std::move(*expected));
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::corrupt, error.what(), path + "/expected.json"};
  }
  if (unexplained.empty()) return {};
  return Error{ErrorCode::not_found, "expected.json does not mention it", path + "/" + *unexplained.begin()};
}

const Observation* find(const Report& report, const std::string& id) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [&](const Observation& seen) { return seen.finding == id; });
  return found == report.findings.end() ? nullptr : &*found;
}

/// What is wrong with the folder's own finding, given that it was reported.
void check_details(const Case& expected, const Observation& seen, std::vector<std::string>& complaints) {
  if (expected.severity && seen.severity < *expected.severity) {
    complaints.push_back(fmt::format("{} is a {}, expected at least {}", seen.finding, to_string(seen.severity),
                                     to_string(*expected.severity)));
  }
  if (expected.first_step &&
      (seen.first_step < expected.first_step->first || seen.first_step > expected.first_step->second)) {
    complaints.push_back(fmt::format("{} begins at step {}, expected {} to {}", seen.finding, seen.first_step,
                                     expected.first_step->first, expected.first_step->second));
  }
  for (const auto& [name, value] : expected.qualifiers) {
    const auto found = seen.qualifiers.find(name);
    if (found == seen.qualifiers.end() || found->second != value) {
      complaints.push_back(fmt::format("{} has {} '{}', expected '{}'", seen.finding, name,
                                       found == seen.qualifiers.end() ? "" : found->second, value));
    }
  }
}

void check_causes(const Case& expected, const Report& report, std::vector<std::string>& complaints) {
  if (expected.causes.empty()) return;
  constexpr std::size_t kTop = 3;
  std::vector<std::string> top;
  for (std::size_t i = 0; i < std::min(kTop, report.causes.size()); ++i) top.push_back(report.causes[i].cause);
  const bool right =
      std::any_of(top.begin(), top.end(), [&](const std::string& id) { return holds(expected.causes, id); });
  if (!right) {
    complaints.push_back(
        fmt::format("first causes are {}, expected one of {}", fmt::join(top, ", "), fmt::join(expected.causes, ", ")));
  }
}

}  // namespace

std::string_view to_string(Case::Kind kind) {
  switch (kind) {
    case Case::Kind::sick:
      return "sick";
    case Case::Kind::healthy:
      return "healthy";
    case Case::Kind::borderline:
      return "borderline";
  }
  return "";
}

Result<std::vector<Case>> read_cases(const std::string& folder) {
  Result<std::vector<std::string>> names = real_file_system().list(folder);
  if (!names) return names.error();
  std::vector<Case> cases;
  for (const std::string& name : *names) {
    const Result<FileInfo> info = real_file_system().info(folder + "/" + name);
    if (!info || info->kind != FileKind::directory) continue;
    if (const Result<void> read = read_folder(folder, name, cases); !read) return read.error();
  }
  return cases;
}

std::string expected_json(const std::vector<Case>& cases) {
  Json root = Json::object();
  for (const Case& expected : cases) {
    Json entry;
    entry["about"] = expected.about;
    if (!expected.must_report.empty()) entry["must_report"] = expected.must_report;
    if (!expected.must_not_report.empty()) entry["must_not_report"] = expected.must_not_report;
    if (!expected.tolerate.empty()) entry["tolerate"] = expected.tolerate;
    if (expected.severity) entry["severity"] = to_string(*expected.severity);
    if (expected.first_step) entry["first_step"] = {expected.first_step->first, expected.first_step->second};
    if (!expected.qualifiers.empty()) entry["qualifiers"] = expected.qualifiers;
    if (!expected.causes.empty()) entry["causes"] = expected.causes;
    root[expected.file] = std::move(entry);
  }
  return root.dump(2) + "\n";
}

std::vector<std::string> complaints(const Case& expected, const Report& report) {
  std::vector<std::string> complaints;
  for (const std::string& id : expected.must_report) {
    if (find(report, id) == nullptr) complaints.push_back(id + " is not reported");
  }
  const bool nothing_else = holds(expected.must_not_report, "*");
  for (const Observation& seen : report.findings) {
    const bool named = holds(expected.must_report, seen.finding) || holds(expected.tolerate, seen.finding);
    const bool forbidden = holds(expected.must_not_report, seen.finding) || (nothing_else && !named);
    if (forbidden && seen.severity >= Severity::warning) {
      complaints.push_back(fmt::format("{} is reported: {}", seen.finding, seen.summary));
    }
  }
  if (const Observation* seen = find(report, expected.finding)) check_details(expected, *seen, complaints);
  check_causes(expected, report, complaints);
  return complaints;
}

}  // namespace osler::cases
