// osler_cases: writes tests/cases anew, or prints a simulated run to look at.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

/// Every case has its own seed, so that a change to one leaves the others as they are.
std::uint64_t seed_of(const Case& expected) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : expected.finding + "/" + expected.file) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

int write_cases(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<Case>> by_finding;
  for (const auto& recipes :
       {nonfinite_recipes(), progress_recipes(), stability_recipes(), validation_recipes(), gradient_recipes(),
        plateau_recipes(), spike_recipes(), metric_recipes(), rate_recipes(), layer_recipes(), lone_layer_recipes(),
        monitor_recipes(), probe_recipes(), crash_recipes(), reward_recipes(), learner_recipes(), tuning_recipes(),
        answer_recipes()}) {
    for (const Recipe& recipe : recipes) {
      const std::filesystem::path home = folder / recipe.expected.finding;
      std::filesystem::create_directories(home);
      simulate::Random random(seed_of(recipe.expected));
      std::ofstream(home / recipe.expected.file) << recipe.make(random).text();
      by_finding[recipe.expected.finding].push_back(recipe.expected);
    }
  }
  std::size_t count = 0;
  for (const auto& [finding, cases] : by_finding) {
    std::ofstream(folder / finding / "expected.json") << expected_json(cases);
    count += cases.size();
  }
  std::cout << count << " cases of " << by_finding.size() << " findings written to " << folder.string() << "\n";
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
  CLI::App app{"Writes the project's cases, or prints a simulated run as CSV."};
  std::string folder = OSLER_SOURCE_DIR "/tests/cases";
  std::string family;
  std::uint64_t seed = 0;
  bool list = false;
  app.add_option("--out", folder, "folder to write the cases to")->capture_default_str();
  app.add_option("--print", family, "print one member of this family of simulated runs instead");
  app.add_option("--seed", seed, "which member")->capture_default_str();
  app.add_flag("--list", list, "list the families");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const osler::simulate::Family& each : osler::simulate::families()) std::cout << each.name << "\n";
    return 0;
  }
  return family.empty() ? osler::cases::write_cases(folder) : osler::cases::print_run(family, seed);
}
