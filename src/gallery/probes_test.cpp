// The list of probes: names to ask by, and how long one takes.
#include "osler/gallery/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "osler/diagnosis/catalogue.h"
#include "osler/gallery/patient.h"

namespace osler::gallery {
namespace {

using testing::HasSubstr;

TEST(Probes, HaveNamesOfTheirOwnAndAskAQuestion) {
  std::set<std::string_view> names;
  for (const Probe& probe : probes()) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name;
    EXPECT_FALSE(probe.question.empty()) << probe.name;
    EXPECT_GT(probe.passes, 0) << probe.name;
    const auto found = find_probe(probe.name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, &probe);
  }
}

TEST(Probes, AreFoundByTheIdOfTheirExperiment) {
  const auto found = find_probe("lr-range-test");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->name, "lr-range");
  const auto unknown = find_probe("lr-rang");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("lr-range"));
}

TEST(Probes, ServeEveryCauseThatAProbeSettles) {
  // The replay of a NaN is the monitor's own.
  const std::set<std::string_view> elsewhere = {"nan-replay"};
  for (const auto& row : causes()) {
    const std::string_view probe = row.descriptor.settle_probe;
    if (probe.empty() || elsewhere.contains(probe)) continue;
    EXPECT_TRUE(find_probe(probe).has_value()) << row.descriptor.id << " is settled by " << probe;
  }
}

TEST(Probes, TellHowLongIsLeftByWhatPassesTookSoFar) {
  EXPECT_EQ(seconds_left({"sharpness", 0, 100, 0}), 0);
  EXPECT_DOUBLE_EQ(seconds_left({"sharpness", 25, 100, 2}), 6);
  EXPECT_EQ(seconds_left({"sharpness", 120, 100, 2}), 0) << "nobody knows";
}

TEST(Probes, APatientNamesOneThatThereIs) {
  for (const auto& [stem, patient] : patients()) {
    if (patient.probe.empty()) continue;
    EXPECT_TRUE(find_probe(patient.probe).has_value()) << patient.id;
  }
}

}  // namespace
}  // namespace osler::gallery
