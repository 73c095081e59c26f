// A dozen patients of the gallery with drawn digits: found, explained, cured; and controls that are left alone.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "osler/gallery/visit.h"
#include "osler/trainer/train.h"

namespace osler::gallery {
namespace {

std::string seen(const Report& report) {
  std::string text;
  for (const Observation& finding : report.findings) {
    text += "\n  " + std::string(to_string(finding.severity)) + " " + finding.finding + ": " + finding.summary;
  }
  for (const WeighedCause& cause : report.causes)
    text += "\n  " + cause.cause + " " + std::to_string(cause.probability);
  return text;
}

Visit made(const std::string& id) {
  // The networks are small: threads would spend their time waiting for each other.
  at::set_num_threads(1);
  const Patient* patient = find_patient(id);
  EXPECT_NE(patient, nullptr) << id;
  VisitOptions options;
  options.treatment.trials = 4;
  auto visit = patient != nullptr ? gallery::visit(*patient, trainer::train, options) : Visit{};
  EXPECT_TRUE(visit.has_value()) << id << ": " << (visit ? "" : visit.error().message);
  return visit ? std::move(*visit) : Visit{};
}

std::string test_name(const testing::TestParamInfo<const char*>& about) {
  std::string name = about.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class PatientTest : public testing::TestWithParam<const char*> {};

TEST_P(PatientTest, IsFoundExplainedAndCured) {
  const Visit visit = made(GetParam());
  const Patient& patient = *find_patient(GetParam());
  EXPECT_TRUE(visit.finding_seen) << patient.finding << seen(visit.sick.report);
  if (patient.has_cause()) {
    ASSERT_TRUE(visit.cause_rank.has_value()) << patient.cause << seen(visit.sick.report);
    EXPECT_LE(*visit.cause_rank, 2U) << patient.cause << seen(visit.sick.report);
  }
  ASSERT_TRUE(visit.treated.has_value());
  EXPECT_TRUE(visit.recovered) << visit.not_recovered << seen(visit.treated->report);
}

INSTANTIATE_TEST_SUITE_P(Gallery, PatientTest,
                         testing::Values("vanishing-sigmoid", "nan-log", "nan-sqrt", "nan-input", "bf16-weights",
                                         "raw-inputs", "no-shuffling", "gradients-never-cleared", "graph-cut",
                                         "decayed-too-early"),
                         test_name);

class ControlTest : public testing::TestWithParam<const char*> {};

TEST_P(ControlTest, IsLeftAlone) {
  const Visit visit = made(GetParam());
  EXPECT_TRUE(visit.clean) << seen(visit.sick.report);
}

INSTANTIATE_TEST_SUITE_P(Gallery, ControlTest, testing::Values("healthy-digits", "healthy-dropout"), test_name);

}  // namespace
}  // namespace osler::gallery
