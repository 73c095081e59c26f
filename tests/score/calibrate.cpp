// Logistic regression of being right on the log-odds of the clearness, drawn towards the line of all findings.
#include "score/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/calibration.h"

namespace osler::score {
namespace {

constexpr double kRealWeight = 4;        // one real warning counts as much as so many simulated ones
constexpr std::size_t kFewestSeen = 30;  // warnings a finding needs for a line of its own
// How firmly a line is drawn to its prior, in units of a Gaussian prior's precision. The slope holds more firmly: a few
// warnings say little about it.
constexpr double kInterceptPrior = 2;
constexpr double kSlopePrior = 20;
constexpr double kLeastSlope = 0.15;  // clearer must never mean less sure

struct Sample {
  std::string finding;
  std::string family;
  double odds = 0;  // of the clearness
  bool right = false;
  double weight = 1;
};

std::vector<Sample> samples_of(const std::vector<const Outcome*>& outcomes) {
  std::vector<Sample> samples;
  for (const Outcome* outcome : outcomes) {
    const Subject& subject = *outcome->subject;
    if (!subject.decided || !subject.certain || subject.part == kLeftOut) continue;
    for (const Observation& seen : outcome->findings) {
      if (seen.severity < Severity::warning) continue;
      const double clearness = clearness_of(seen.finding, seen.confidence);
      samples.push_back({seen.finding, subject.family, std::log(clearness / (1 - clearness)),
                         is_true(subject.truth, seen.finding), subject.source == Source::corpus ? kRealWeight : 1.0});
    }
  }
  return samples;
}

/// The most probable line given the samples and a Gaussian prior around `prior`, by Newton's method.
Line fit(const std::vector<const Sample*>& samples, const Line& prior) {
  Line line = prior;
  constexpr int kSteps = 100;
  constexpr double kLongest = 0.5;  // far from the optimum Newton's step may overshoot to where nothing curves any more
  for (int step = 0; step < kSteps; ++step) {
    double ga = -kInterceptPrior * (line.intercept - prior.intercept);
    double gb = -kSlopePrior * (line.slope - prior.slope);
    double haa = kInterceptPrior;
    double hab = 0;
    double hbb = kSlopePrior;
    for (const Sample* sample : samples) {
      const double p = 1 / (1 + std::exp(-(line.intercept + line.slope * sample->odds)));
      const double miss = sample->weight * ((sample->right ? 1.0 : 0.0) - p);
      const double curvature = sample->weight * p * (1 - p);
      ga += miss;
      gb += miss * sample->odds;
      haa += curvature;
      hab += curvature * sample->odds;
      hbb += curvature * sample->odds * sample->odds;
    }
    const double determinant = haa * hbb - hab * hab;
    line.intercept += std::clamp((ga * hbb - gb * hab) / determinant, -kLongest, kLongest);
    line.slope += std::clamp((gb * haa - ga * hab) / determinant, -kLongest, kLongest);
  }
  line.slope = std::max(line.slope, kLeastSlope);
  return line;
}

Calibration fit_all(const std::vector<Sample>& samples) {
  Calibration calibration;
  const auto row_of = [](const std::vector<const Sample*>& chosen, const Line& prior) {
    Calibration::Row row;
    row.line = fit(chosen, prior);
    row.seen = chosen.size();
    row.untrue = static_cast<std::size_t>(
        std::count_if(chosen.begin(), chosen.end(), [](const Sample* sample) { return !sample->right; }));
    return row;
  };
  std::vector<const Sample*> all;
  std::map<std::string, std::vector<const Sample*>> by_finding;
  for (const Sample& sample : samples) {
    all.push_back(&sample);
    by_finding[sample.finding].push_back(&sample);
  }
  calibration.pooled = row_of(all, Line());
  for (const auto& [finding, chosen] : by_finding) {
    if (chosen.size() >= kFewestSeen) calibration.rows[finding] = row_of(chosen, calibration.pooled.line);
  }
  return calibration;
}

double predicted(const Calibration& calibration, const Sample& sample) {
  const auto own = calibration.rows.find(sample.finding);
  const Line& line = own == calibration.rows.end() ? calibration.pooled.line : own->second.line;
  return 1 / (1 + std::exp(-(line.intercept + line.slope * sample.odds)));
}

std::string row_text(const std::string& finding, const Calibration::Row& row) {
  return fmt::format("      {{\"{}\", {:.2f}, {:.2f}, {}, {}}},\n", finding, row.line.intercept, row.line.slope,
                     row.seen, row.untrue);
}

}  // namespace

std::size_t stable_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

Calibration calibrate(const std::vector<const Outcome*>& outcomes) {
  return fit_all(samples_of(outcomes));
}

std::vector<ReliabilityBin> cross_validated(const std::vector<const Outcome*>& outcomes, std::size_t folds) {
  const std::vector<Sample> samples = samples_of(outcomes);
  std::vector<ReliabilityBin> bins = empty_bins();
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<Sample> others;
    for (const Sample& sample : samples) {
      if (stable_hash(sample.family) % folds != fold) others.push_back(sample);
    }
    const Calibration calibration = fit_all(others);
    for (const Sample& sample : samples) {
      if (stable_hash(sample.family) % folds == fold) count_into(bins, predicted(calibration, sample), sample.right);
    }
  }
  return bins;
}

std::string calibration_source(const Calibration& calibration) {
  std::string text =
      "// Written by osler_score --calibrate; not to be edited by hand. Each row: the finding (the first row is for "
      "those\n"
      "// without their own), intercept and slope between the log-odds of clearness and confidence, the warnings on\n"
      "// labelled runs it was fitted to, and how many of them the label does not allow.\n"
      "#include \"diagnosis/calibration.h\"\n\n"
      "namespace osler {\n\n"
      "std::span<const CalibrationRow> calibration_table() {\n"
      "  static constexpr CalibrationRow kRows[] = {\n";
  text += row_text("", calibration.pooled);
  for (const auto& [finding, row] : calibration.rows) text += row_text(finding, row);
  return text + "  };\n  return kRows;\n}\n\n}  // namespace osler\n";
}

}  // namespace osler::score
