// Faults speak Osler's language, fit what is drawn, and change something.
#include "faults.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace osler::population {
namespace {

/// The ids of one kind in the list of public ids.
std::set<std::string> known(const std::string& kind) {
  std::ifstream file(OSLER_SOURCE_DIR "/tests/meta/catalogue_ids.txt");
  std::set<std::string> ids;
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(kind + " ", 0) == 0) ids.insert(line.substr(kind.size() + 1));
  }
  return ids;
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

TEST(PopulationFaults, AreCausesAndFindingsOfTheCatalogue) {
  const std::set<std::string> causes = known("cause");
  const std::set<std::string> findings = known("finding");
  ASSERT_GT(causes.size(), 30U);
  for (const Fault& fault : all_faults()) {
    EXPECT_TRUE(causes.count(std::string(fault.cause)) == 1) << fault.key;
    for (const std::string& cause : words(fault.also))
      EXPECT_TRUE(causes.count(cause) == 1) << fault.key << ' ' << cause;
    EXPECT_FALSE(words(fault.findings).empty()) << fault.key;
    for (const std::string& one : words(fault.findings))
      EXPECT_TRUE(findings.count(one) == 1) << fault.key << ' ' << one;
  }
}

TEST(PopulationFaults, HaveNamesOfTheirOwn) {
  std::set<std::string_view> keys;
  for (const Fault& fault : all_faults()) EXPECT_TRUE(keys.insert(fault.key).second) << fault.key;
}

TEST(PopulationFaults, FitSomeOfWhatIsDrawnOnBothSidesOfTheSplit) {
  for (const Fault& fault : all_faults()) {
    bool learn = false;
    bool left_out = false;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      Random random(seed);
      const Recipe recipe = draw_recipe(seed, random);
      if (fault.fits(recipe)) (is_for_learning(family(recipe)) ? learn : left_out) = true;
    }
    EXPECT_TRUE(learn) << fault.key;
    EXPECT_TRUE(left_out || fault.key == "no-clipping-recurrent") << fault.key;
  }
}

TEST(PopulationFaults, SayWhatTheyChangedAndSinceWhen) {
  for (const Fault& fault : all_faults()) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      Random random(seed);
      Recipe recipe = draw_recipe(seed, random);
      if (!fault.fits(recipe)) continue;
      fault.prepare(recipe, random);
      const Planted planted = fault.plant(recipe, random);
      EXPECT_FALSE(planted.what.empty()) << fault.key;
      EXPECT_GE(planted.since, 0) << fault.key;
      EXPECT_LT(planted.since, recipe.steps) << fault.key;
      break;
    }
  }
}

}  // namespace
}  // namespace osler::population
