// Judging first weights, and concluding a list of checks.
#include "probes/start.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "probes/words.h"

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

// As the finding poor-initialization has them, from the seeds.
constexpr double kLeast = 0.1;
constexpr double kMost = 10;
constexpr double kEqualRows = 1e-6;
constexpr double kLargeBias = 3;  // a unit that starts this far off is decided before it sees an input

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double he_ratio(const WeightStart& start) {
  if (start.vector || start.embedding) return kNone;
  // Recurrent weights follow the size of the state: uniform within one over its root.
  return start.size / std::sqrt(start.recurrent ? 1 / (start.outputs / 4) / 3 : 2 / start.inputs);
}

double xavier_ratio(const WeightStart& start) {
  if (start.vector || start.embedding) return kNone;
  return start.size / std::sqrt(2 / (start.inputs + start.outputs));
}

Experiment::Check judge(const WeightStart& start) {
  const auto line = [&](Outcome outcome, std::string text) {
    return Experiment::Check{start.name, outcome, std::move(text)};
  };
  if (!std::isfinite(start.size)) return line(Outcome::failed, "It has values that are NaN or infinite.");
  if (start.vector) {
    if (start.largest > kLargeBias)
      return line(Outcome::failed, fmt::format("It reaches {:.3g}: units start decided.", start.largest));
    return line(Outcome::passed, fmt::format("Its values reach {:.3g}.", start.largest));
  }
  if (start.size == 0) {
    return line(Outcome::undecided,
                "All weights are zero: right for the end of a residual branch or a last layer, wrong "
                "anywhere else.");
  }
  if (start.rows < kEqualRows) {
    return line(Outcome::failed, fmt::format("All {} units start equal and will stay equal.", start.units));
  }
  if (start.embedding) return line(Outcome::passed, fmt::format("Standard deviation {:.3g}.", start.size));
  const double he = he_ratio(start);
  const std::string text =
      fmt::format("Standard deviation {:.3g}: {:.2g} times He's for {:.0f} inputs, {:.2g} times Xavier's.", start.size,
                  he, start.inputs, xavier_ratio(start));
  return line(he >= kLeast && he <= kMost ? Outcome::passed : Outcome::failed, text);
}

}  // namespace

void write_starts(std::span<const WeightStart> starts, Experiment& experiment) {
  std::vector<double> depth;
  std::vector<double> sizes;
  std::vector<double> he;
  std::vector<double> xavier;
  std::vector<double> rows;
  std::vector<std::string> bad;
  std::vector<std::string> zero;
  for (const WeightStart& start : starts) {
    depth.push_back(static_cast<double>(depth.size()));
    sizes.push_back(start.size);
    he.push_back(he_ratio(start));
    xavier.push_back(xavier_ratio(start));
    rows.push_back(start.rows);
    const Experiment::Check& check = experiment.checks.emplace_back(judge(start));
    if (check.outcome == Outcome::failed) bad.push_back(check.id);
    if (check.outcome == Outcome::undecided) zero.push_back(check.id);
  }
  experiment.columns = {{"depth", std::move(depth)},
                        {"std", std::move(sizes)},
                        {"he-ratio", std::move(he)},
                        {"xavier-ratio", std::move(xavier)},
                        {"row-difference", std::move(rows)}};
  experiment.outcome = bad.empty() ? Outcome::passed : Outcome::failed;
  experiment.verdict = bad.empty()
                           ? fmt::format("All {} tensors start as they should.", starts.size())
                           : fmt::format("{} of {} tensors start badly: {}.", bad.size(), starts.size(), some_of(bad));
  if (!zero.empty()) experiment.verdict += fmt::format(" At zero are {}.", some_of(zero));
  experiment.values = {{"tensors", static_cast<double>(starts.size()), {}, {}},
                       {"badly-started", static_cast<double>(bad.size()), {}, {}}};
}

void conclude_checkup(Experiment& experiment) {
  std::vector<std::string> failed;
  std::size_t passed = 0;
  std::size_t open = 0;
  for (const Experiment::Check& check : experiment.checks) {
    if (check.outcome == Outcome::failed) failed.push_back(check.id);
    if (check.outcome == Outcome::passed) ++passed;
    if (check.outcome == Outcome::undecided) ++open;
  }
  experiment.values = {{"passed", static_cast<double>(passed), {}, {}},
                       {"failed", static_cast<double>(failed.size()), {}, {}},
                       {"not-checked", static_cast<double>(open), {}, {}}};
  experiment.outcome = failed.empty() ? Outcome::passed : Outcome::failed;
  experiment.verdict =
      failed.empty()
          ? fmt::format("All {} points that could be checked are as they should be.", passed)
          : fmt::format("{} of {} points failed: {}.", failed.size(), passed + failed.size(), some_of(failed));
  if (open > 0) experiment.verdict += fmt::format(" {} could not be checked.", open);
}

}  // namespace osler::probes
