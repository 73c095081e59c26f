// Slope, minimum, saddle or plateau.
#include "probes/curvature_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

constexpr double kWalk = 0.1;  // of the weights' size: how far one looks when asking whether a place is flat

double steepest(const KrylovEnds& ends) {
  return std::max(ends.highest, -ends.lowest);
}

double gain_of(const CurvatureFacts& facts) {
  return facts.gradient_signal == 0 ? 0 : facts.gradient_signal / (2 * steepest(facts.ends)) / std::abs(facts.loss);
}

Experiment::Value within_error(std::string name, double value, double error) {
  return {std::move(name), value, value - error, value + error};
}

/// A mean with its standard error.
std::pair<double, double> level_of(const std::vector<double>& sample) {
  const auto count = static_cast<double>(sample.size());
  double mean = 0;
  for (const double value : sample) mean += value / count;
  double squares = 0;
  for (const double value : sample) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

std::string told(Ground ground, const CurvatureFacts& facts, const GroundOptions& options) {
  const std::string numbers = fmt::format("gradient norm {:.3g}, eigenvalues from {:.3g} to {:.3g}",
                                          facts.gradient_norm, facts.ends.lowest, facts.ends.highest);
  switch (ground) {
    case Ground::slope:
      return fmt::format("The weights are on a slope: a step along the gradient would gain {:.2g} % of the loss ({}).",
                         100 * gain_of(facts), numbers);
    case Ground::saddle:
      return fmt::format("The weights are on a saddle: the gradient leads nowhere, but a direction bends down ({}).",
                         numbers);
    case Ground::plateau:
      return fmt::format("The weights are on a plateau: neither slope nor bend within {:.0f} % of their size ({}).",
                         100 * kWalk, numbers);
    case Ground::minimum:
      break;
  }
  return fmt::format(
      "The weights are at a minimum, as far as the batches tell: the gradient leads nowhere and no direction bends "
      "down by more than {:.3g} % of the largest curvature ({}).",
      100 * options.negative_share, numbers);
}

}  // namespace

double squared_signal(double square_of_sum, double sum_of_squares, std::size_t batches) {
  if (batches < 2) return square_of_sum;
  const auto count = static_cast<double>(batches);
  return std::max(0.0, (square_of_sum - sum_of_squares) / (count * (count - 1)));
}

Ground ground_of(const CurvatureFacts& facts, const GroundOptions& options) {
  const KrylovEnds& ends = facts.ends;
  const double enough = options.stationary_gain * std::abs(facts.loss);
  if (facts.gradient_signal > 0 && !(facts.gradient_signal / 2 <= enough * steepest(ends))) return Ground::slope;
  const double walk = kWalk * std::max(facts.weights, 1.0);
  const bool way_down = ends.lowest + ends.lowest_error < -options.negative_share * std::max(ends.highest, 0.0);
  if (way_down && -ends.lowest * walk * walk / 2 > enough) return Ground::saddle;
  return steepest(ends) * walk * walk / 2 > enough ? Ground::minimum : Ground::plateau;
}

bool bends_down(const std::vector<double>& bends) {
  constexpr double kErrors = 2;
  const auto [mean, error] = level_of(bends);
  return mean + kErrors * error < 0;
}

void write_curvature(const CurvatureFacts& facts, bool exact, const TraceSamples& traces,
                     const std::vector<LayerCurvature>& layers, Experiment& experiment) {
  const KrylovEnds& ends = facts.ends;
  experiment.values.push_back({"gradient-norm", facts.gradient_norm, {}, {}});
  experiment.values.push_back({"gradient-signal", std::sqrt(facts.gradient_signal), {}, {}});
  experiment.values.push_back({"gradient-gain", gain_of(facts), {}, {}});
  experiment.values.push_back(within_error("top-eigenvalue", ends.highest, ends.highest_error));
  experiment.values.push_back(within_error("lowest-eigenvalue", ends.lowest, ends.lowest_error));
  experiment.values.push_back({"exact-products", exact ? 1.0 : 0.0, {}, {}});
  std::vector<double> means;
  std::vector<double> errors;
  for (std::size_t block = 0; !traces.empty() && block <= layers.size(); ++block) {
    std::vector<double> sample;
    for (const std::vector<double>& row : traces) sample.push_back(row[block]);
    const auto [mean, error] = level_of(sample);
    means.push_back(mean);
    errors.push_back(error);
  }
  if (!means.empty()) experiment.values.push_back(within_error("trace", means[0], 2 * errors[0]));
  std::vector<double> tops;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    tops.push_back(layers[i].top.value_or(std::nan("")));
    std::string text = layers[i].top ? fmt::format("top eigenvalue {:.3g}", *layers[i].top) : "";
    if (!means.empty()) {
      text += fmt::format("{}trace {:.3g} +- {:.2g}", text.empty() ? "" : ", ", means[i + 1], errors[i + 1]);
    }
    experiment.checks.push_back({layers[i].layer, Outcome::passed, text});
  }
  experiment.columns = {{"layer-top-eigenvalue", tops}};
  if (means.empty()) return;
  experiment.columns.push_back({"layer-trace", {means.begin() + 1, means.end()}});
  experiment.columns.push_back({"layer-trace-error", {errors.begin() + 1, errors.end()}});
}

void write_ground(const CurvatureFacts& facts, Ground ground, bool by_chance, const GroundOptions& options,
                  Experiment& experiment) {
  const KrylovEnds& ends = facts.ends;
  experiment.outcome = ground == Ground::saddle && !by_chance ? Outcome::failed : Outcome::passed;
  experiment.verdict = by_chance ? fmt::format(
                                       "The gradient leads nowhere, and the direction that bends down on these "
                                       "batches does not on others (gradient norm {:.3g}, eigenvalues from "
                                       "{:.3g} to {:.3g}): larger batches would tell a saddle from a minimum.",
                                       facts.gradient_norm, ends.lowest, ends.highest)
                                 : told(ground, facts, options);
  if (!ends.converged) {
    experiment.verdict += fmt::format(" After {} products the eigenvalues are known only within {:.2g} and {:.2g}.",
                                      ends.lowest_coordinates.size(), ends.lowest_error, ends.highest_error);
  }
}

void write_stability(double top, double limit, double learning_rate, const std::string& words, Experiment& experiment) {
  const double ratio = top / limit;
  experiment.values.push_back({"stability-limit", limit, {}, {}});
  experiment.values.push_back({"stability-ratio", ratio, {}, {}});
  experiment.verdict += fmt::format(" The largest curvature is {:.3g} % of what steps of {:.3g} bear ({}).",
                                    100 * ratio, learning_rate, words);
}

}  // namespace osler::probes
