// Sharp or flat, at the bottom or not.
#include "probes/surface_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

constexpr double kLower = 0.01;  // a place counts as lower when its loss is lower by this share

/// Mean, spread and an interval of two standard errors.
struct Rises {
  const std::vector<double>& values;

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
  }
  [[nodiscard]] double spread() const {
    if (values.size() < 2) return 0;
    const double centre = mean();
    double squares = 0;
    for (const double value : values) squares += (value - centre) * (value - centre);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  [[nodiscard]] double error() const { return 2 * spread() / std::sqrt(static_cast<double>(values.size())); }
  [[nodiscard]] Experiment::Value named(std::string name) const {
    return {std::move(name), mean(), mean() - error(), mean() + error()};
  }
};

Outcome judged(const Rises& rises, double threshold) {
  if (rises.mean() - rises.error() > threshold) return Outcome::failed;
  if (rises.mean() + rises.error() < threshold) return Outcome::passed;
  return Outcome::undecided;
}

std::string told(const SharpnessFacts& facts, Outcome outcome) {
  const Rises plain{facts.plain};
  std::string text = fmt::format(
      "Moving every weight tensor by {:.3g} % of its size in random directions raises the loss by {:.3g} % "
      "(+- {:.2g} over {} tries): ",
      100 * facts.radius, 100 * plain.mean(), 100 * plain.error(), plain.values.size());
  text += outcome == Outcome::failed   ? "a sharp minimum."
          : outcome == Outcome::passed ? "flat around the weights."
                                       : "too close to the limit to say sharp or flat.";
  if (!facts.worst.empty()) {
    const double highest = *std::max_element(facts.worst.begin(), facts.worst.end());
    text += fmt::format(" In the worst direction found it rises by {:.3g} %.", 100 * highest);
  }
  return text;
}

std::size_t lowest_of(const std::vector<double>& loss) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < loss.size(); ++i) {
    if (loss[i] < loss[best] || std::isnan(loss[best])) best = i;
  }
  return best;
}

}  // namespace

void write_sharpness(const SharpnessFacts& facts, Experiment& experiment) {
  const Rises plain{facts.plain};
  experiment.outcome = judged(plain, facts.threshold);
  experiment.values.push_back(plain.named("ratio"));
  experiment.values.push_back({"ratio-spread", plain.spread(), {}, {}});
  experiment.values.push_back(Rises{facts.filter}.named("filter-ratio"));
  if (!facts.worst.empty()) {
    const auto [least, most] = std::minmax_element(facts.worst.begin(), facts.worst.end());
    experiment.values.push_back({"worst-ratio", *most, *least, *most});
  }
  experiment.columns = {{"ratio", facts.plain}, {"filter-ratio", facts.filter}};
  experiment.verdict = told(facts, experiment.outcome);
}

void write_surface(SurfaceFacts facts, Experiment& experiment) {
  const std::size_t lowest = lowest_of(facts.loss);
  experiment.values = {
      {"loss", facts.base, {}, {}}, {"lowest", facts.loss[lowest], {}, {}}, {"lowest-a", facts.a[lowest], {}, {}}};
  if (facts.dimensions == 2) experiment.values.push_back({"lowest-b", facts.b[lowest], {}, {}});
  const bool bottom = std::isfinite(facts.base) && !(facts.loss[lowest] < facts.base - kLower * std::abs(facts.base));
  experiment.outcome = bottom ? Outcome::passed : Outcome::undecided;
  if (!std::isfinite(facts.base)) {
    experiment.verdict = "The loss at the weights is not finite.";
  } else if (bottom) {
    experiment.verdict =
        fmt::format("None of {} points within {:.3g} times the weights' own size lies lower than the weights, {:.4g}.",
                    facts.loss.size(), facts.span, facts.base);
  } else {
    experiment.verdict = fmt::format(
        "The loss is {:.4g} at the weights and {:.4g} at a = {:.3g}, b = {:.3g}: the weights are not at the bottom of "
        "this section.",
        facts.base, facts.loss[lowest], facts.a[lowest], facts.b[lowest]);
  }
  experiment.columns.push_back({"a", std::move(facts.a)});
  if (facts.dimensions == 2) experiment.columns.push_back({"b", std::move(facts.b)});
  experiment.columns.push_back({"loss", std::move(facts.loss)});
}

}  // namespace osler::probes
