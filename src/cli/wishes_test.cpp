// Words of the command line become options, or an error that helps.
#include "cli/wishes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace osler::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const Wishes& wishes) {
  const auto options = to_options(wishes);
  return options ? "" : describe(options.error());
}

std::string error_of_roles(std::vector<std::string> words) {
  return error_of({.roles = std::move(words), .settings = {}, .only = {}, .format = {}, .domain = {}, .baseline = {}});
}
std::string error_of_settings(std::vector<std::string> words) {
  return error_of({.roles = {}, .settings = std::move(words), .only = {}, .format = {}, .domain = {}, .baseline = {}});
}
std::string error_of_only(std::vector<std::string> words) {
  return error_of({.roles = {}, .settings = {}, .only = std::move(words), .format = {}, .domain = {}, .baseline = {}});
}

TEST(Wishes, BecomeOptions) {
  const Finding& finding = findings().front().descriptor;
  ASSERT_FALSE(finding.settings.empty());
  const std::string setting = fmt::format("{}.{}", finding.id, finding.settings.front().name);
  const auto options = to_options({.roles = {"train-loss=my=loss"},
                                   .settings = {setting + "=2.5e-3"},
                                   .only = {std::string(finding.id)},
                                   .format = {},
                                   .domain = {},
                                   .baseline = {}});
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_EQ(options->roles[0].role, Role::train_loss);
  EXPECT_EQ(options->roles[0].series, "my=loss") << "a series name may hold an equals sign";
  EXPECT_EQ(options->settings.at(setting), 2.5e-3);
  EXPECT_EQ(options->only.front(), finding.id);
}

TEST(Wishes, GiveARoleWithAQuestionMarkToRunsThatHaveTheSeries) {
  Wishes wishes;
  wishes.roles = {"?train-loss=mine"};
  const auto options = to_options(wishes);
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_TRUE(options->roles.empty());
  ASSERT_EQ(options->roles_if_there.size(), 1U);
  EXPECT_EQ(options->roles_if_there[0].series, "mine");
}

TEST(Wishes, SuggestTheRoleThatWasMeant) {
  EXPECT_THAT(error_of_roles({"trainloss=x"}), HasSubstr("did you mean train-loss"));
  EXPECT_THAT(error_of_roles({"banana=x"}), HasSubstr("osler list roles"));
  EXPECT_THAT(error_of_roles({"train-loss"}), HasSubstr("ROLE=SERIES"));
  EXPECT_THAT(error_of_roles({"train-loss="}), HasSubstr("ROLE=SERIES"));
}

TEST(Wishes, SuggestTheSettingThatWasMeant) {
  const Finding& finding = findings().front().descriptor;
  const std::string setting = fmt::format("{}.{}", finding.id, finding.settings.front().name);
  EXPECT_THAT(error_of_settings({setting + "x=1"}),
              AllOf(HasSubstr("there is no setting"),
                    HasSubstr(fmt::format("did you mean {}", finding.settings.front().name))));
  EXPECT_THAT(error_of_settings({setting + "=many"}), HasSubstr("'many' is not a number"));
  EXPECT_THAT(error_of_settings({setting}), HasSubstr("FINDING.SETTING=NUMBER"));
  EXPECT_THAT(error_of_settings({"overfiting.x=1"}), HasSubstr("did you mean overfitting?"));
  EXPECT_THAT(error_of_settings({fmt::format("{}.zzzzzzzz=1", finding.id)}),
              HasSubstr(fmt::format("osler explain {}", finding.id)));
}

TEST(Wishes, SuggestTheFindingThatWasMeant) {
  EXPECT_THAT(error_of_only({"overfiting"}), HasSubstr("did you mean overfitting?"));
  EXPECT_THAT(error_of_only({"qqqq"}), HasSubstr("osler list findings"));
}

TEST(Wishes, KnowTheSeverities) {
  EXPECT_EQ(*to_severity("note"), Severity::note);
  EXPECT_THAT(describe(to_severity("fatal").error()), HasSubstr("note, warning or critical"));
}

TEST(Wishes, SuggestTheFormatThatWasMeant) {
  EXPECT_TRUE(check_format(""));
  EXPECT_TRUE(check_format("csv"));
  EXPECT_THAT(describe(check_format("tensorbord").error()), HasSubstr("did you mean tensorboard?"));
}

TEST(Wishes, NameTheSeriesThatExist) {
  osler::Run run;
  run.name = "run.csv";
  run.add(Event{run.series("train/objective"), 0, kNoTime, 1.0});
  run.add(Event{run.series("val/objective"), 0, kNoTime, 1.0});
  DiagnosisOptions options;
  options.roles = {{Role::train_loss, "train/objective"}};
  EXPECT_TRUE(check_series(options, run));
  options.roles = {{Role::train_loss, "train/objectiv"}};
  EXPECT_THAT(describe(check_series(options, run).error()), HasSubstr("did you mean train/objective"));
  options.roles = {{Role::train_loss, "zzz"}};
  EXPECT_THAT(describe(check_series(options, run).error()), HasSubstr("the log has: train/objective, val/objective"));
}

}  // namespace
}  // namespace osler::cli
