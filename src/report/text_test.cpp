// The text report: what it says, in which order, and that it fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "osler/report/render.h"
#include "report/layout.h"
#include "report/sample_reports.h"

namespace osler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::vector<Report>& all_samples() {
  static const std::vector<Report> reports = {samples::nan_run(),
                                              samples::overfitting_run(),
                                              samples::healthy_run(),
                                              samples::insufficient_run(),
                                              samples::hostile_run(),
                                              samples::crowded_run(),
                                              Report{}};
  return reports;
}

/// `first` and, somewhere after it, `second`.
void expect_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << "missing, or too early: " << part << "\n" << text;
    at = found;
  }
}

TEST(TextReport, OpensWithTheVerdict) {
  const std::vector<std::string> lines = lines_of(render_text(samples::nan_run()));
  EXPECT_THAT(lines[0], StartsWith("✗ CRITICAL  The training loss is NaN from step 4,102 on"));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("runs/exp42"), HasSubstr("csv"), HasSubstr("steps 0 to 9,999")));
}

TEST(TextReport, TellsFindingsThenCausesThenRemediesThenTheRecord) {
  expect_order(render_text(samples::nan_run()), {"✗ CRITICAL",
                                                 "since step 4,102",
                                                 "almost certain",
                                                 "loss-nonfinite-later",
                                                 "5,898 of the last 5,898 values",
                                                 "▲ step 4,102",
                                                 "since step 4,064",
                                                 "grad_norm",
                                                 "Why",
                                                 "71 %",
                                                 "the gradient norm ran away before the loss did",
                                                 "against",
                                                 "were calm",
                                                 "settle",
                                                 "LR range test",
                                                 "22 %",
                                                 "ruled out",
                                                 "What to do",
                                                 "1. Lower the peak learning rate to 0.01",
                                                 "Read as",
                                                 "Not checked"});
}

TEST(TextReport, PutsRemediesWithNumbersFirst) {
  TextOptions tall;
  tall.lines = 45;
  expect_order(render_text(samples::nan_run(), tall),
               {"What to do", "learning rate to 0.01", "clip_norm → 1.0", "Restart from"});
}

TEST(TextReport, GivesARemedyItsLineOfCode) {
  TextOptions tall;
  tall.lines = 45;
  expect_order(render_text(samples::nan_run(), tall),
               {"1. Lower the peak learning rate to 0.01", "model.optimizer.learning_rate = 0.01  Keras", "2. "});
  TextOptions low;
  low.lines = 24;
  EXPECT_THAT(render_text(samples::nan_run(), low), Not(HasSubstr("Keras")))
      << "the first thing to go on a small screen";
}

TEST(TextReport, DoesNotRepeatTheNewValueWhenTheWordsNameIt) {
  EXPECT_THAT(render_text(samples::nan_run()), Not(HasSubstr("lr 0.1 → 0.01")));
  EXPECT_THAT(render_text(samples::overfitting_run()), HasSubstr("max_steps 10000 → 2400"));
}

TEST(TextReport, DrawsTrainingAndValidationLossInOnePlot) {
  expect_order(render_text(samples::overfitting_run()), {"val/loss ≈1.3", "train/loss ≈0.032", "▲ step 2,400"});
}

TEST(TextReport, GroupsWhatWasNotCheckedByReason) {
  EXPECT_THAT(render_text(samples::nan_run()), HasSubstr("16 of 24: the log has no statistics per layer (7)"));
  TextOptions verbose;
  verbose.verbose = true;
  EXPECT_THAT(render_text(samples::nan_run(), verbose), HasSubstr("vanishing-by-depth"));
}

TEST(TextReport, ShowsTheArithmeticWhenVerbose) {
  TextOptions verbose;
  verbose.verbose = true;
  expect_order(render_text(samples::nan_run(), verbose),
               {"+1.9", "ran away before the loss did", "[exploding-gradients]", "-0.6"});
}

TEST(TextReport, TellsTheCausesOfAStandstillThatMayBeHarmless) {
  Report report = samples::overfitting_run();
  report.status = Status::healthy;
  report.findings.resize(1);
  report.findings[0].severity = Severity::note;
  EXPECT_THAT(render_text(report), Not(HasSubstr("Why")));
  report.findings[0].qualifiers["why"] = "open";
  expect_order(render_text(report), {"NOTE", "Why", "What to do"});
}

TEST(TextReport, OfAHealthyRunIsShortAndCalm) {
  const std::string text = render_text(samples::healthy_run());
  EXPECT_THAT(text, StartsWith("✓ HEALTHY  Nothing is wrong"));
  expect_order(text, {"train/loss ≈0.21", "Figures", "best-validation-loss 0.241", "8 conditions, none found"});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("Why")), Not(HasSubstr("What to do")), Not(HasSubstr("▲"))));
  EXPECT_LE(lines_of(text).size(), 25u);
}

TEST(TextReport, EndsACurveWhereItsFiguresDo) {
  Report report = samples::healthy_run();
  // A peak in the last column, which the figure does not follow.
  report.sketches[0].columns.back() = {9950, 8, 9, 8.5, 0};
  EXPECT_THAT(render_text(report), HasSubstr("train/loss ≈0.21"));
  report.roles["train-loss"].push_back("another/loss");
  EXPECT_THAT(render_text(report), Not(HasSubstr("train/loss ≈0.21"))) << "the figure may be the other one's";
}

TEST(TextReport, OfTooLittleDataSaysWhatWasMissing) {
  const std::string text = render_text(samples::insufficient_run());
  EXPECT_THAT(text, StartsWith("? INSUFFICIENT DATA  Only 4 points"));
  EXPECT_THAT(text, AllOf(HasSubstr("4 points are too few"), HasSubstr("no validation loss in the log")));
}

TEST(TextReport, SaysWhatWasDamaged) {
  Report report = samples::healthy_run();
  report.damage.add({"run.csv", 0, 0, "2 points of loss came after later steps and are left out", 0});
  EXPECT_THAT(render_text(report), AllOf(HasSubstr("not everything could be used"), HasSubstr("run.csv: 2 points"),
                                         Not(HasSubstr("byte 0"))));
  report.damage = {};
  report.damage.add({"run.csv", 812, 17, "value 'abc' in column 'loss' is not a number", 40});
  EXPECT_THAT(render_text(report),
              AllOf(HasSubstr("1 place could not be read, 40 B lost"), HasSubstr("run.csv:17: value 'abc'")));
}

TEST(TextReport, NamesRestarts) {
  Report report = samples::healthy_run();
  report.marks.push_back({Mark::Kind::restart, 5000, kNoTime, "steps went back from 6,200"});
  EXPECT_THAT(render_text(report), HasSubstr("restart at step 5,000: steps went back from 6,200"));
}

TEST(TextReport, FitsAScreenByDefaultHoweverMuchWasFound) {
  for (const Report& report : all_samples()) EXPECT_LE(lines_of(render_text(report)).size(), 40u) << report.headline;
  TextOptions small;
  small.lines = 24;
  for (const Report& report : all_samples()) {
    EXPECT_LE(lines_of(render_text(report, small)).size(), 34u) << report.headline;
  }
}

TEST(TextReport, SaysHowMuchMoreThereIs) {
  EXPECT_THAT(render_text(samples::crowded_run()),
              AllOf(HasSubstr("more findings: --verbose"), HasSubstr("less probable causes: --verbose")));
}

TEST(TextReport, ShowsEverythingWhenVerbose) {
  TextOptions verbose;
  verbose.verbose = true;
  const Report report = samples::crowded_run();
  const std::string text = render_text(report, verbose);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("--verbose")), HasSubstr("grad_norm/layer39"), HasSubstr("and 50 more")));
  std::size_t findings = 0;
  for (std::size_t at = text.find("since step"); at != std::string::npos; at = text.find("since step", at + 1))
    ++findings;
  EXPECT_EQ(findings, report.findings.size());
}

TEST(TextReport, NeverExceedsItsWidth) {
  for (const Report& report : all_samples()) {
    for (const int width : {40, 48, 60, 71, 72, 80, 100, 160}) {
      for (const bool unicode : {true, false}) {
        for (const bool verbose : {true, false}) {
          const TextOptions options{.colour = true, .verbose = verbose, .unicode = unicode, .width = width};
          for (const std::string& line : lines_of(render_text(report, options))) {
            ASSERT_LE(layout::columns(line), std::min(width, layout::kWidest)) << line;
          }
          EXPECT_LE(layout::columns(render_line(report, options)), std::min(width, layout::kWidest));
        }
      }
    }
  }
}

TEST(TextReport, HasNoControlCharactersWithoutColour) {
  for (const Report& report : all_samples()) {
    for (const bool verbose : {true, false}) {
      const std::string text = render_text(report, {.verbose = verbose}) + render_line(report);
      const auto control = [](char sign) {
        const auto byte = static_cast<unsigned char>(sign);
        return (byte < 0x20 && sign != '\n') || byte == 0x7f;
      };
      EXPECT_EQ(std::count_if(text.begin(), text.end(), control), 0) << report.headline;
      EXPECT_THAT(text, Not(HasSubstr("\u202E")));
    }
  }
}

TEST(TextReport, UsesOnlyItsOwnEscapesWithColour) {
  for (const Report& report : all_samples()) {
    const std::string text = render_text(report, {.colour = true, .verbose = true});
    for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at + 1)) {
      const std::string code = text.substr(at, text.find('m', at) - at + 1);
      EXPECT_THAT(code,
                  testing::AnyOf("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[33m", "\x1b[36m", "\x1b[32m"));
    }
  }
}

TEST(TextReport, IsPureAsciiOnRequest) {
  for (const Report& report : all_samples()) {
    const std::string text = render_text(report, {.verbose = true, .unicode = false});
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](char sign) { return static_cast<unsigned char>(sign) < 0x80; }));
  }
}

TEST(LineReport, IsOneLineWithVerdictNameAndHeadline) {
  const std::string line = render_line(samples::overfitting_run());
  EXPECT_THAT(line, StartsWith("▲ warning"));
  EXPECT_THAT(line, AllOf(HasSubstr("runs/small-data"), HasSubstr("The model overfits since step 2,400"),
                          Not(HasSubstr("\n"))));
}

TEST(TextReport, ShowsWhatWasTested) {
  Report report = samples::overfitting_run();
  Experiment experiment;
  experiment.probe = "lr-range-test";
  experiment.outcome = Experiment::Outcome::passed;
  experiment.verdict = "The loss falls fastest at 0.004.";
  experiment.values = {{"suggestion", 0.004, 0.002, 0.009}};
  experiment.checks = {{"batches", Experiment::Outcome::failed, "One class holds 90 % of the samples."}};
  report.experiments = {experiment};

  const std::string brief = render_text(report);
  EXPECT_THAT(brief, HasSubstr("The loss falls fastest at 0.004."));
  EXPECT_THAT(brief, Not(HasSubstr("One class holds"))) << "details are for --verbose";
  const std::string all = render_text(report, TextOptions{.verbose = true});
  EXPECT_THAT(all, HasSubstr("0.002 to 0.009"));
  EXPECT_THAT(all, HasSubstr("One class holds"));
  EXPECT_THAT(render_text(experiment), HasSubstr("One class holds"));
}

TEST(TextReport, ShowsMeasuresBesideHealthyRunsWhenEverythingIsAskedFor) {
  TextOptions options;
  EXPECT_THAT(render_text(samples::nan_run(), options), Not(HasSubstr("Measures")));
  options.verbose = true;
  options.width = 100;
  EXPECT_THAT(render_text(samples::nan_run(), options),
              HasSubstr("gradient norm 924: above 99.8 % of 2,310 healthy classifiers"));
}

}  // namespace
}  // namespace osler
