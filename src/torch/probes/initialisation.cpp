// Looking at the weights of every layer before they are trained.
#include "osler/torch/initialisation.h"

#include <fmt/format.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "torch/probes/parameters.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

// As the finding poor-initialization has them, from the seeds.
constexpr double kLeast = 0.1;
constexpr double kMost = 10;
constexpr double kEqualRows = 1e-6;
constexpr double kLargeBias = 3;  // a unit that starts this far off is decided before it sees an input

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// One weight and the rule it is measured by.
struct Start {
  std::string name;
  at::Tensor weight;
  double inputs = 0;
  double outputs = 0;
  bool recurrent = false;
  bool embedding = false;
  bool vector = false;  ///< a bias or the scale of a normalisation
};

Start start_of(const std::string& name, const at::Tensor& weight, const ::torch::nn::Module& owner) {
  Start start{name, weight.detach().to(at::kCPU).to(at::kDouble), 0, 0, false, false, weight.dim() < 2};
  if (start.vector) return start;
  // A transposed convolution keeps its inputs along the first dimension.
  const bool transposed = owner.name().find("ConvTranspose") != std::string::npos;
  const auto rows = static_cast<double>(weight.size(0));
  const auto columns = static_cast<double>(weight.size(1));
  const double kernel = static_cast<double>(weight.numel()) / (rows * columns);
  start.inputs = (transposed ? rows : columns) * kernel;
  start.outputs = (transposed ? columns : rows) * kernel;
  start.recurrent = name.find("_ih") != std::string::npos || name.find("_hh") != std::string::npos;
  start.embedding = dynamic_cast<const ::torch::nn::EmbeddingImpl*>(&owner) != nullptr;
  return start;
}

/// The sum of squared distances of rows from their mean over the sum of squares: 0 when all rows are equal.
double row_difference(const at::Tensor& weight) {
  if (weight.dim() < 2 || weight.size(0) < 2) return kNone;
  const at::Tensor rows = weight.reshape({weight.size(0), -1});
  const double size = rows.square().sum().item<double>();
  return size > 0 ? (rows - rows.mean(0, true)).square().sum().item<double>() / size : 0.0;
}

struct Measured {
  double size = 0;  ///< root mean square
  double he = kNone;
  double xavier = kNone;
  double rows = kNone;
};

Measured measure(const Start& start) {
  Measured measured;
  measured.size = start.weight.square().mean().sqrt().item<double>();
  measured.rows = row_difference(start.weight);
  if (start.vector || start.embedding) return measured;
  // Recurrent weights follow the size of the state: uniform within one over its root.
  measured.he = measured.size / std::sqrt(start.recurrent ? 1 / (start.outputs / 4) / 3 : 2 / start.inputs);
  measured.xavier = measured.size / std::sqrt(2 / (start.inputs + start.outputs));
  return measured;
}

Experiment::Check judge(const Start& start, const Measured& measured) {
  const auto line = [&](Outcome outcome, std::string text) {
    return Experiment::Check{start.name, outcome, std::move(text)};
  };
  if (!std::isfinite(measured.size)) return line(Outcome::failed, "It has values that are NaN or infinite.");
  if (start.vector) {
    const double largest = start.weight.numel() == 0 ? 0.0 : start.weight.abs().max().item<double>();
    if (largest > kLargeBias)
      return line(Outcome::failed, fmt::format("It reaches {:.3g}: units start decided.", largest));
    return line(Outcome::passed, fmt::format("Its values reach {:.3g}.", largest));
  }
  if (measured.size == 0) {
    return line(Outcome::undecided,
                "All weights are zero: right for the end of a residual branch or a last layer, wrong "
                "anywhere else.");
  }
  if (measured.rows < kEqualRows) {
    return line(Outcome::failed, fmt::format("All {} units start equal and will stay equal.", start.weight.size(0)));
  }
  if (start.embedding) return line(Outcome::passed, fmt::format("Standard deviation {:.3g}.", measured.size));
  const std::string text =
      fmt::format("Standard deviation {:.3g}: {:.2g} times He's for {:.0f} inputs, {:.2g} times Xavier's.",
                  measured.size, measured.he, start.inputs, measured.xavier);
  const bool fits = measured.he >= kLeast && measured.he <= kMost;
  return line(fits ? Outcome::passed : Outcome::failed, text);
}

void conclude(Experiment& experiment) {
  std::vector<std::string> bad;
  std::vector<std::string> zero;
  for (const Experiment::Check& check : experiment.checks) {
    if (check.outcome == Outcome::failed) bad.push_back(check.id);
    if (check.outcome == Outcome::undecided) zero.push_back(check.id);
  }
  experiment.outcome = bad.empty() ? Outcome::passed : Outcome::failed;
  experiment.verdict = bad.empty() ? fmt::format("All {} tensors start as they should.", experiment.checks.size())
                                   : fmt::format("{} of {} tensors start badly: {}.", bad.size(),
                                                 experiment.checks.size(), some_of(bad));
  if (!zero.empty()) experiment.verdict += fmt::format(" At zero are {}.", some_of(zero));
  experiment.values = {{"tensors", static_cast<double>(experiment.checks.size()), {}, {}},
                       {"badly-started", static_cast<double>(bad.size()), {}, {}}};
}

}  // namespace

Experiment initialisation_check(const ::torch::nn::Module& model) {
  if (model.parameters().empty()) {
    throw std::invalid_argument(
        "initialisation-check: the model has no parameters; register them with register_parameter "
        "and register_module.");
  }
  const at::NoGradGuard no_graph;
  Experiment experiment;
  experiment.probe = "initialisation-check";
  std::vector<double> depth;
  std::vector<double> sizes;
  std::vector<double> he;
  std::vector<double> xavier;
  std::vector<double> rows;
  const auto look = [&](const std::string& prefix, const ::torch::nn::Module& owner) {
    for (const auto& item : owner.named_parameters(false)) {
      if (!item.value().is_floating_point() || item.value().numel() == 0) continue;
      const Start start = start_of(prefix.empty() ? item.key() : prefix + "." + item.key(), item.value(), owner);
      const Measured measured = measure(start);
      depth.push_back(static_cast<double>(depth.size()));
      sizes.push_back(measured.size);
      he.push_back(measured.he);
      xavier.push_back(measured.xavier);
      rows.push_back(measured.rows);
      experiment.checks.push_back(judge(start, measured));
    }
  };
  look("", model);
  for (const auto& item : model.named_modules("", false)) look(item.key(), *item.value());
  experiment.columns = {{"depth", std::move(depth)},
                        {"std", std::move(sizes)},
                        {"he-ratio", std::move(he)},
                        {"xavier-ratio", std::move(xavier)},
                        {"row-difference", std::move(rows)}};
  conclude(experiment);
  return experiment;
}

}  // namespace osler::torch
