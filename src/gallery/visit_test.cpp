// Visits: what is expected of a patient is held against what its report says, and treatment against the truth.
#include "osler/gallery/visit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "osler/diagnosis/catalogue.h"

namespace osler::gallery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A trainer without a network: the rate decides what comes of it. At 1 and above it diverges; the report then blames
/// the rate and proposes `proposed`.
struct FakeTrainer {
  std::string proposed = "0.01";
  std::vector<std::string> files;
  std::vector<std::int64_t> lengths;

  Result<TrainingResult> operator()(const Recipe& recipe, const TrainingOptions& options) {
    files.push_back(options.run_file.string());
    lengths.push_back(options.steps.value_or(recipe.steps));
    TrainingResult result;
    result.true_loss = recipe.lr >= 1 ? 50 : 0.5;
    result.true_accuracy = recipe.lr >= 1 ? 0.1 : 0.9;
    if (recipe.lr < 1) return result;
    result.report.findings.push_back({});
    result.report.findings.back().finding = "loss-diverging";
    for (const char* cause : {"no-clipping", "lr-too-high"}) {
      result.report.causes.push_back({});
      result.report.causes.back().cause = cause;
    }
    result.report.causes.back().remedies = {{"lower the rate", Remedy::Change{"lr", "", proposed}}};
    return result;
  }
};

Patient diverging() {
  Patient patient;
  patient.id = "diverging";
  patient.recipe.lr = 10;
  patient.finding = "loss-diverging";
  patient.cause = "lr-too-high";
  patient.treatments = {{"Divide the rate by a thousand", {{"lr", "0.01"}}}};
  patient.recovery.accuracy = 0.8;
  return patient;
}

TEST(Visit, TreatsByTheReportsOwnRemedy) {
  FakeTrainer fake;
  const auto made = visit(diverging(), std::ref(fake));
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->finding_seen);
  EXPECT_EQ(made->cause_rank, 1U);
  EXPECT_TRUE(made->recovered);
  EXPECT_FALSE(made->prescribed);
  EXPECT_EQ(made->treated_recipe.lr, 0.01);
}

TEST(Visit, TakesThePatientsOwnTreatmentWhenTheReportsDoesNotSuffice) {
  FakeTrainer fake{"5", {}, {}};
  const auto made = visit(diverging(), std::ref(fake));
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->prescribed);
  EXPECT_TRUE(made->recovered);
  EXPECT_EQ(made->treated_recipe.lr, 0.01);
}

TEST(Visit, SaysWhyAPatientIsNotWell) {
  FakeTrainer fake{"5", {}, {}};
  Patient patient = diverging();
  patient.treatments = {{"Lower the rate a little", {{"lr", "2"}}}};
  const auto made = visit(patient, std::ref(fake));
  ASSERT_TRUE(made.has_value());
  EXPECT_FALSE(made->recovered);
  EXPECT_THAT(made->not_recovered, HasSubstr("accuracy is 0.100"));
}

TEST(Visit, AnyOfTheEquallyRightCausesCounts) {
  FakeTrainer fake;
  Patient patient = diverging();
  patient.causes = {"no-clipping"};
  VisitOptions options;
  options.treat = false;
  const auto made = visit(patient, std::ref(fake), options);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->cause_rank, 0U);
}

TEST(Visit, AHealthyControlIsCleanAndNotTreated) {
  FakeTrainer fake;
  Patient patient;
  patient.id = "healthy";
  const auto made = visit(patient, std::ref(fake));
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->clean);
  EXPECT_FALSE(made->treated.has_value());
  EXPECT_EQ(fake.lengths.size(), 1U);
}

TEST(Visit, KeepsTheSickAndTheTreatedRunAndNoFork) {
  FakeTrainer fake;
  VisitOptions options;
  options.training.run_file = "runs/diverging.osler";
  options.fork_share = 0.25;
  ASSERT_TRUE(visit(diverging(), std::ref(fake), options).has_value());
  EXPECT_THAT(fake.files, ElementsAre("runs/diverging.osler", "", "", "runs/diverging-treated.osler"));
  EXPECT_THAT(fake.lengths, ElementsAre(400, 100, 100, 400));
}

TEST(Visit, TellsItsPhases) {
  FakeTrainer fake;
  std::vector<std::string> phases;
  VisitOptions options;
  options.on_phase = [&](std::string_view phase) { phases.emplace_back(phase); };
  ASSERT_TRUE(visit(diverging(), std::ref(fake), options).has_value());
  EXPECT_THAT(phases, ElementsAre("sick", "fork 1", "fork 2", "treated"));
}

TEST(Visit, AVisitorsOwnRecipeIsJudgedByWhatWasFoundInIt) {
  FakeTrainer fake;
  Patient healthy;
  healthy.id = "healthy";
  VisitOptions options;
  options.own = true;
  const auto clean = visit(healthy, std::ref(fake), options);
  ASSERT_TRUE(clean.has_value());
  EXPECT_TRUE(clean->clean);
  EXPECT_FALSE(clean->treated.has_value());
  healthy.recipe.lr = 10;
  const auto spoiled = visit(healthy, std::ref(fake), options);
  ASSERT_TRUE(spoiled.has_value());
  EXPECT_FALSE(spoiled->clean);
  ASSERT_TRUE(spoiled->treated.has_value()) << "a control that was made sick is treated";
  EXPECT_EQ(spoiled->treated_recipe.lr, 0.01);
  EXPECT_TRUE(spoiled->recovered) << spoiled->not_recovered;
}

TEST(Visit, APatientsOwnTreatmentIsTakenOnlyWhereItsIllnessIsStillThere) {
  FakeTrainer fake{"5", {}, {}};
  VisitOptions options;
  options.own = true;
  const auto still = visit(diverging(), std::ref(fake), options);
  ASSERT_TRUE(still.has_value());
  EXPECT_TRUE(still->prescribed);
  Patient other = diverging();
  other.finding = "loss-plateau";
  const auto made = visit(other, std::ref(fake), options);
  ASSERT_TRUE(made.has_value());
  EXPECT_FALSE(made->prescribed);
  EXPECT_FALSE(made->recovered);
}

TEST(Visit, RunsTheProbeThatShowsTheIllness) {
  std::vector<std::size_t> asked;
  const Trainer trainer = [&](const Recipe&, const TrainingOptions& options) -> Result<TrainingResult> {
    asked.push_back(options.probes.size());
    return TrainingResult{};
  };
  Patient patient = diverging();
  patient.probe = "sharpness";
  VisitOptions options;
  options.treat = false;
  options.training.probes = {*find_probe("sharpness")};
  ASSERT_TRUE(visit(patient, trainer, options).has_value());
  patient.probe = "curvature";
  ASSERT_TRUE(visit(patient, trainer, options).has_value());
  EXPECT_THAT(asked, ElementsAre(1U, 2U));
  patient.probe = "crystal-ball";
  EXPECT_FALSE(visit(patient, trainer, options).has_value());
}

TEST(Visit, FailsWhenThePatientCannotBeTrained) {
  const Trainer broken = [](const Recipe&, const TrainingOptions&) -> Result<TrainingResult> {
    return Error{ErrorCode::io, "the disk is full", "x.osler"};
  };
  const auto made = visit(diverging(), broken);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message, "the disk is full");
}

TEST(StillIll, HoldsTheTruthAgainstEveryCriterion) {
  Patient patient = diverging();
  patient.recovery = {0.8, 1.0, 0.5, true};
  TrainingResult sick;
  sick.true_loss = 2;
  TrainingResult treated;
  treated.true_loss = 0.9;
  treated.true_accuracy = 0.9;
  EXPECT_FALSE(still_ill(patient, sick, treated).has_value());
  treated.true_loss = std::nan("");
  EXPECT_THAT(still_ill(patient, sick, treated).value_or(""), HasSubstr("not finite"));
  treated.true_loss = 1.5;
  EXPECT_THAT(still_ill(patient, sick, treated).value_or(""), HasSubstr("above 1"));
  sick.true_loss = 1.0;
  treated.true_loss = 0.9;
  EXPECT_THAT(still_ill(patient, sick, treated).value_or(""), HasSubstr("of the sick one's"));
  sick.true_loss = 2;
  treated.report.findings.push_back({});
  treated.report.findings.back().finding = "loss-diverging";
  EXPECT_THAT(still_ill(patient, sick, treated).value_or(""), HasSubstr("still reported"));
  treated.report.findings.back().severity = Severity::note;
  EXPECT_FALSE(still_ill(patient, sick, treated).has_value());
}

// What the files of gallery/ say of themselves.

TEST(Patients, AreNamedAfterTheirFilesAndTellTheirStory) {
  std::set<std::string_view> ids;
  for (const auto& [stem, patient] : patients()) {
    std::string name(patient.id);
    std::replace(name.begin(), name.end(), '-', '_');
    EXPECT_EQ(name, stem);
    EXPECT_TRUE(ids.insert(patient.id).second);
    EXPECT_FALSE(patient.title.empty()) << patient.id;
    EXPECT_FALSE(patient.story.empty()) << patient.id;
    EXPECT_TRUE(check(patient.recipe).has_value()) << patient.id;
    EXPECT_EQ(find_patient(patient.id), &patient);
  }
}

TEST(Patients, ExpectWhatTheCatalogueKnows) {
  for (const auto& [stem, patient] : patients()) {
    if (patient.healthy()) continue;
    EXPECT_NE(find_finding(patient.finding), nullptr) << patient.id << ": " << patient.finding;
    for (const std::string_view also : patient.also)
      EXPECT_NE(find_finding(also), nullptr) << patient.id << ": " << also;
    if (patient.has_cause()) {
      EXPECT_NE(find_cause(patient.cause), nullptr) << patient.id << ": " << patient.cause;
    }
    for (const std::string_view cause : patient.causes)
      EXPECT_NE(find_cause(cause), nullptr) << patient.id << ": " << cause;
    EXPECT_FALSE(patient.lesson.empty()) << patient.id;
  }
}

TEST(Patients, HaveTreatmentsThatCanBeApplied) {
  for (const auto& [stem, patient] : patients()) {
    if (patient.healthy()) continue;
    EXPECT_FALSE(patient.treatments.empty()) << patient.id;
    for (const Treatment& treatment : patient.treatments) {
      Recipe recipe = patient.recipe;
      for (const auto& [name, value] : treatment.changes) {
        const auto done = set(recipe, name, value);
        EXPECT_TRUE(done.has_value()) << patient.id << ": " << (done ? "" : done.error().message);
      }
      EXPECT_TRUE(check(recipe).has_value()) << patient.id << ": " << treatment.text;
      EXPECT_NE(recipe, patient.recipe) << patient.id << ": " << treatment.text;
    }
  }
}

TEST(Patients, AreFortyAndTenControls) {
  const auto all = patients();
  const auto healthy = std::count_if(all.begin(), all.end(), [](const auto& row) { return row.descriptor.healthy(); });
  EXPECT_GE(all.size() - static_cast<std::size_t>(healthy), 40U);
  EXPECT_GE(healthy, 10);
}

}  // namespace
}  // namespace osler::gallery
