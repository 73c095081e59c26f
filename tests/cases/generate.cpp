// osler_cases: makes the cases from their recipes, or prints a simulated run to look at.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

namespace fs = std::filesystem;

/// Every case has its own seed, so that a change to one leaves the others as they are.
std::uint64_t seed_of(const Case& expected) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : expected.finding + "/" + expected.file) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

/// Each case's text in its finding's folder below `out`. Returns what is expected of them.
std::vector<Case> follow_recipes(const fs::path& out) {
  std::vector<Case> made;
  for (const auto& [stem, recipes] : case_recipes()) {
    for (const Recipe& recipe : recipes) {
      const fs::path home = out / recipe.expected.finding;
      fs::create_directories(home);
      simulate::Random random(seed_of(recipe.expected));
      std::ofstream(home / recipe.expected.file) << recipe.make(random).text();
      made.push_back(recipe.expected);
    }
  }
  return made;
}

/// Copies the cases that lie as files below `written`.
Result<std::vector<Case>> copy_written(const fs::path& written, const fs::path& out) {
  Result<std::vector<Case>> cases = read_cases(written.string());
  if (!cases) return cases;
  for (const Case& each : *cases) {
    const fs::path file = fs::path(each.finding) / each.file;
    fs::create_directories(out / each.finding);
    if (!fs::copy_file(written / file, out / file, fs::copy_options::skip_existing)) {
      return Error{ErrorCode::invalid_argument, "a recipe makes a case of the same name", (written / file).string()};
    }
  }
  return cases;
}

int write_cases(const fs::path& written, const fs::path& out) {
  std::vector<Case> all = follow_recipes(out);
  Result<std::vector<Case>> copied = copy_written(written, out);
  if (!copied) {
    std::cerr << "osler_cases: " << describe(copied.error()) << "\n";
    return 1;
  }
  all.insert(all.end(), copied->begin(), copied->end());
  std::map<std::string, std::vector<Case>> by_finding;
  for (const Case& each : all) by_finding[each.finding].push_back(each);
  for (const auto& [finding, cases] : by_finding) {
    std::ofstream(out / finding / "expected.json") << expected_json(cases);
  }
  std::cout << all.size() << " cases of " << by_finding.size() << " findings written to " << out.string() << "\n";
  return 0;
}

int print_run(const std::string& name, std::uint64_t seed) {
  for (const simulate::Family& family : simulate::families()) {
    if (family.name != name) continue;
    std::cout << simulate::to_csv(simulate::draw(family, seed));
    return 0;
  }
  std::cerr << "osler_cases: no family '" << name << "'; --list shows them\n";
  return 2;
}

}  // namespace
}  // namespace osler::cases

int main(int argc, char** argv) {
  CLI::App app{"Makes the project's cases, or prints a simulated run as CSV."};
  std::string written = OSLER_SOURCE_DIR "/tests/cases";
  std::string out;
  std::string family;
  std::uint64_t seed = 0;
  bool list = false;
  app.add_option("--out", out, "write the cases to this folder, which should be empty");
  app.add_option("--written", written, "folder of cases that are files, which are copied")->capture_default_str();
  app.add_option("--print", family, "print one member of this family of simulated runs instead");
  app.add_option("--seed", seed, "which member")->capture_default_str();
  app.add_flag("--list", list, "list the families");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const osler::simulate::Family& each : osler::simulate::families()) std::cout << each.name << "\n";
    return 0;
  }
  if (!family.empty()) return osler::cases::print_run(family, seed);
  if (!out.empty()) return osler::cases::write_cases(written, out);
  std::cerr << app.help();
  return 2;
}
