// Every finding, cause and format keeps the rules of the catalogue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "meta/rules.h"

namespace osler::meta {
namespace {

using testing::IsEmpty;

const std::string kTests = std::string(OSLER_SOURCE_DIR) + "/tests/";

/// The ids of one kind ("finding", "cause") in the list of public ids.
std::set<std::string> public_ids(const std::string& kind) {
  std::ifstream list(kTests + "meta/catalogue_ids.txt");
  std::set<std::string> ids;
  std::string line;
  while (std::getline(list, line)) {
    if (line.starts_with(kind + " ")) ids.insert(line.substr(kind.size() + 1));
  }
  return ids;
}

template <typename Descriptor>
void expect_in_order(std::span<const Registered<Descriptor>> entries, const Descriptor* (*find)(std::string_view)) {
  ASSERT_FALSE(entries.empty());
  std::set<std::string_view> seen;
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.descriptor.id);
    EXPECT_THAT(problems_of(entry), IsEmpty());
    EXPECT_TRUE(seen.insert(entry.descriptor.id).second) << "the id is there twice";
    EXPECT_EQ(find(entry.descriptor.id), &entry.descriptor) << "it cannot be looked up";
  }
  EXPECT_EQ(find("no-such-id"), nullptr);
}

TEST(Catalogue, FindingsAreComplete) {
  expect_in_order<Finding>(findings(), find_finding);
}

TEST(Catalogue, CausesAreComplete) {
  expect_in_order<Cause>(causes(), find_cause);
}

TEST(Catalogue, FormatsAreComplete) {
  expect_in_order<Format>(formats(), find_format);
}

TEST(Catalogue, EveryFindingHasSickHealthyAndBorderlineCases) {
  for (const auto& entry : findings()) {
    EXPECT_THAT(missing_cases(OSLER_CASES "/" + std::string(entry.descriptor.id)), IsEmpty()) << entry.descriptor.id;
  }
}

TEST(Catalogue, EveryFormatHasSamples) {
  for (const auto& entry : formats()) {
    const std::filesystem::path folder = kTests + "samples/" + std::string(entry.descriptor.id);
    EXPECT_TRUE(std::filesystem::is_directory(folder) && !std::filesystem::is_empty(folder)) << folder;
  }
}

TEST(Catalogue, EveryIdIsPublic) {
  const std::set<std::string> finding_ids = public_ids("finding");
  const std::set<std::string> cause_ids = public_ids("cause");
  for (const auto& entry : findings()) {
    EXPECT_TRUE(finding_ids.contains(std::string(entry.descriptor.id))) << entry.descriptor.id;
  }
  for (const auto& entry : causes()) {
    EXPECT_TRUE(cause_ids.contains(std::string(entry.descriptor.id))) << entry.descriptor.id;
  }
}

TEST(Catalogue, GuidesAreNamedAfterTheirFilesAndCanBeLookedUp) {
  ASSERT_FALSE(guides().empty());
  for (const auto& [stem, guide] : guides()) {
    EXPECT_EQ(guide.id, id_of_stem(stem));
    EXPECT_EQ(find_guide(guide.id), &guide);
    EXPECT_FALSE(guide.title.empty());
    EXPECT_EQ(find_finding(guide.id), nullptr) << "a finding has that id as well";
    EXPECT_THAT(missing_sections(guide.doc, {"References"}), IsEmpty());
  }
  EXPECT_EQ(find_guide("no-such-id"), nullptr);
}

TEST(Catalogue, EveryFindingIsExplainedByACause) {
  // What the machine does, and what names its own origin, needs no hypothesis.
  const std::set<std::string_view> without = {"collapsed-representation", "input-starved",
                                              "memory-growing",           "straggler-rank",
                                              "training-stalled",         "validation-builds-graph"};
  std::set<std::string_view> explained;
  for (const auto& [stem, cause] : causes()) {
    for (const Pull& pull : cause.pulls) {
      if (pull.if_found > 0) explained.insert(pull.finding);
    }
  }
  for (const auto& [stem, finding] : findings()) {
    EXPECT_NE(explained.contains(finding.id), without.contains(finding.id)) << finding.id;
  }
}

TEST(Catalogue, PagesLinkOnlyToPagesThatExist) {
  const auto expect_links = [](std::string_view id, std::string_view doc) {
    for (const std::string& target : local_links(doc)) {
      const std::string linked = target.ends_with(".md") ? target.substr(0, target.size() - 3) : target;
      EXPECT_TRUE(find_finding(linked) != nullptr || find_cause(linked) != nullptr || find_format(linked) != nullptr)
          << "the page of " << id << " links to " << target;
    }
  };
  for (const auto& entry : findings()) expect_links(entry.descriptor.id, entry.descriptor.doc);
  for (const auto& entry : causes()) expect_links(entry.descriptor.id, entry.descriptor.doc);
  for (const auto& entry : formats()) expect_links(entry.descriptor.id, entry.descriptor.doc);
  for (const auto& entry : guides()) expect_links(entry.descriptor.id, entry.descriptor.doc);
}

}  // namespace
}  // namespace osler::meta
