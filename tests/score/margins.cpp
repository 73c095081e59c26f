// The margins of a prognosis, from the errors that were made.
#include "score/margins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "diagnosis/patient.h"
#include "score/calibrate.h"
#include "signal/robust.h"

namespace osler::score {
namespace {

constexpr std::array kCutAt = {0.4, 0.6, 0.8};     // share of the run that is shown
constexpr std::array kClasses = {0.35, 0.8, 2.5};  // lengths ahead
constexpr double kOutside = 0.05;                  // on either side

bool usable(const Subject& subject) {
  const bool real = subject.source == Source::corpus || subject.source == Source::population;
  return real && subject.decided && subject.certain && subject.truth.healthy;
}

void cut(const Subject& subject, const Run& run, std::vector<CutRun>& cuts) {
  const auto roles = RoleMap::infer(run);
  if (!roles) return;
  const Patient patient(run, *roles);
  if (patient.reinforcement() || patient.adversarial() || patient.by_quality()) return;
  const Reading* reading = patient.training() != nullptr ? patient.training() : patient.validation();
  if (reading == nullptr || reading->ends_nonfinite) return;
  const signal::Curve& curve = reading->curve;
  const std::size_t last = std::max<std::size_t>(3, curve.size() / 20);
  if (curve.size() < 2 * last) return;
  const double came = signal::median(std::span(curve.value).last(last));
  for (const double share : kCutAt) {
    const auto kept = static_cast<std::size_t>(share * static_cast<double>(curve.size()));
    if (kept < 1) continue;
    if (const auto foresight = foresee(signal::slice(curve, 0, kept), curve.step.back())) {
      cuts.push_back({subject.name, subject.family, *foresight, came});
    }
  }
}

double error_of(const CutRun& cut) {
  return (cut.came - cut.foresight.value) / cut.foresight.scale;
}

/// How many of `n` errors may lie outside on either side for the next one to do so as seldom as `kOutside` (the rank of
/// split conformal prediction: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World, 2005).
std::size_t errors_beyond(std::size_t n) {
  const double allowed = std::floor(kOutside * static_cast<double>(n + 1));
  return allowed >= 1 ? static_cast<std::size_t>(allowed) - 1 : 0;
}

std::size_t class_of(double ahead) {
  std::size_t place = 0;
  while (place + 1 < kClasses.size() && ahead > kClasses[place]) ++place;
  return place;
}

const MarginRow& row_for(const std::vector<MarginRow>& rows, double ahead) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const MarginRow& each) { return ahead <= each.most_ahead; });
  return row != rows.end() ? *row : rows.back();
}

}  // namespace

std::vector<CutRun> cut_runs(std::vector<Subject>& subjects) {
  std::vector<CutRun> cuts;
  for (Subject& subject : subjects) {
    if (!usable(subject)) continue;
    const Result<std::vector<Run>> runs = subject.load(subject);
    if (runs && runs->size() == 1) cut(subject, runs->front(), cuts);
  }
  return cuts;
}

std::vector<MarginRow> learn_margins(const std::vector<CutRun>& cuts) {
  std::array<std::vector<double>, kClasses.size()> errors;
  for (const CutRun& each : cuts) {
    if (worth_telling(each.foresight)) errors[class_of(each.foresight.ahead)].push_back(error_of(each));
  }
  std::vector<MarginRow> rows;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    if (errors[i].empty()) continue;
    std::sort(errors[i].begin(), errors[i].end());
    const std::size_t beyond = errors_beyond(errors[i].size());
    rows.push_back({kClasses[i], errors[i].size(), errors[i][beyond], errors[i][errors[i].size() - 1 - beyond]});
  }
  return rows;
}

std::string coverage_text(const std::vector<CutRun>& cuts, std::size_t folds) {
  struct Count {
    std::size_t cuts = 0;
    std::size_t wide = 0;  // foresights that would not be told
    std::size_t below = 0;
    std::size_t above = 0;
    std::vector<double> widths;
  };
  std::array<Count, kClasses.size()> counts;
  std::set<std::string> runs;
  std::set<std::string> families;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<CutRun> others;
    std::copy_if(cuts.begin(), cuts.end(), std::back_inserter(others),
                 [&](const CutRun& each) { return stable_hash(each.family) % folds != fold; });
    const std::vector<MarginRow> rows = learn_margins(others);
    for (const CutRun& each : cuts) {
      if (stable_hash(each.family) % folds != fold || rows.empty()) continue;
      const MarginRow& row = row_for(rows, each.foresight.ahead);
      Count& count = counts[class_of(each.foresight.ahead)];
      runs.insert(each.name);
      if (!worth_telling(each.foresight)) {
        ++count.wide;
        continue;
      }
      const Prospects range = within(each.foresight, row);
      ++count.cuts;
      count.below += each.came < range.low ? 1 : 0;
      count.above += each.came > range.high ? 1 : 0;
      count.widths.push_back((range.high - range.low) / std::abs(each.foresight.now));
      families.insert(each.family);
    }
  }
  std::string text = fmt::format("prognosis: {} healthy runs of {} families, cut short, margins from the others\n",
                                 runs.size(), families.size());
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const Count& count = counts[i];
    if (count.cuts == 0) continue;
    const double inside = static_cast<double>(count.cuts - count.below - count.above);
    text += fmt::format(
        "  up to {} lengths ahead: {:.3f} of {} within, {} below, {} above; half of the intervals are narrower than "
        "{:.1f} % of the loss; {} too doubtful to be told\n",
        kClasses[i], inside / static_cast<double>(count.cuts), count.cuts, count.below, count.above,
        100 * signal::median(count.widths), count.wide);
  }
  return text;
}

std::string margins_source(const std::vector<MarginRow>& rows) {
  std::string text =
      "// Written by osler_score --learn-margins; not to be edited by hand. Each row: how far ahead it holds, in "
      "lengths of the\n// known stretch, the cut runs behind it, and the margins in units of a foresight's scale.\n"
      "#include \"diagnosis/prognosis_table.h\"\n\nnamespace osler {\n\nstd::span<const MarginRow> margin_table() {\n"
      "  static constexpr MarginRow kRows[] = {\n";
  for (const MarginRow& row : rows) {
    text += fmt::format("      {{{}, {}, {:.3f}, {:.3f}}},\n", row.most_ahead, row.cuts, row.low, row.high);
  }
  return text + "  };\n  return kRows;\n}\n\n}  // namespace osler\n";
}

}  // namespace osler::score
