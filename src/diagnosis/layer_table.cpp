// Gathering what the log has of each layer, from gradients to activations.
#include "diagnosis/layer_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "diagnosis/layer_kind.h"
#include "diagnosis/layers.h"
#include "diagnosis/update_ratios.h"
#include "diagnosis/wording.h"
#include "osler/diagnosis/catalogue.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kParts = 24;

/// "fc1" of "fc1.weight".
std::string_view module_of(std::string_view layer) {
  const auto dot = layer.find_last_of("./");
  return dot == std::string_view::npos ? layer : layer.substr(0, dot);
}

/// Rows in the making. Layers that only a second list has stand behind the one they follow there.
class Rows {
 public:
  explicit Rows(std::vector<LayerRow>& rows) : rows_(rows) {}

  LayerRow& parameter(const std::string& layer) {
    if (LayerRow* known = find([&](const LayerRow& row) { return row.layer == layer; })) return *known;
    return insert(layer, std::string(to_string(kind_of_layer(layer))));
  }
  /// The weights of a module, or a row of the module's own.
  LayerRow& module(const std::string& layer) {
    if (LayerRow* known = find([&](const LayerRow& row) { return row.layer == layer; })) return *known;
    LayerRow* weights = find([&](const LayerRow& row) {
      return module_of(row.layer) == layer && !is_small(kind_of_layer(row.layer)) && row.kind != "activation";
    });
    if (weights == nullptr) return insert(layer, "activation");
    const auto name = rows_[at_ - 1].layer;
    while (at_ < rows_.size() && module_of(rows_[at_].layer) == module_of(name)) ++at_;  // behind its bias
    return *weights;
  }
  /// The next list begins.
  void restart() { at_ = 0; }

 private:
  LayerRow* find(const auto& is_it) {
    // Lists mostly have the same order: look onwards from the last place first.
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t place = (at_ + i) % rows_.size();
      if (!is_it(rows_[place])) continue;
      at_ = place + 1;
      return &rows_[place];
    }
    return nullptr;
  }
  LayerRow& insert(const std::string& layer, std::string kind) {
    LayerRow row;
    row.layer = layer;
    row.kind = std::move(kind);
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at_), std::move(row));
    return rows_[at_++];
  }

  std::vector<LayerRow>& rows_;
  std::size_t at_ = 0;  // behind the row that was asked for last
};

std::optional<double> now_of(const Series* series) {
  if (series == nullptr) return std::nullopt;
  const std::vector<Point> recent = series->summary().recent();
  if (!recent.empty() && !std::isfinite(recent.back().value)) return recent.back().value;
  const double level = level_now(layer_curve(*series));
  return std::isnan(level) ? std::nullopt : std::optional(level);
}

/// The mean over equal parts of the run's steps; a part without a value has the one before it.
std::vector<double> in_parts(const Series& series, const StepRange& steps) {
  const auto range = static_cast<double>(steps.last) - static_cast<double>(steps.first);
  std::vector<double> sum(kParts, 0);
  std::vector<double> count(kParts, 0);
  const signal::Curve curve = layer_curve(series);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double share = range > 0 ? (curve.step[i] - static_cast<double>(steps.first)) / range : 0;
    const auto part = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * (kParts - 1)));
    sum[part] += curve.value[i] * curve.count[i];
    count[part] += curve.count[i];
  }
  std::vector<double> parts_of_run(kParts, std::nan(""));
  for (std::size_t i = 0; i < kParts; ++i) {
    if (count[i] > 0) {
      parts_of_run[i] = sum[i] / count[i];
    } else if (i > 0) {
      parts_of_run[i] = parts_of_run[i - 1];
    }
  }
  return parts_of_run;
}

void gather(const Patient& patient, std::vector<LayerRow>& all) {
  const StepRange steps = patient.run().steps();
  Rows rows(all);
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    LayerRow& row = rows.parameter(layer.name);
    const Series* norm = layer.find({"norm", "l2"});
    row.gradient_norm = now_of(norm);
    if (norm != nullptr) row.gradient_course = in_parts(*norm, steps);
  }
  rows.restart();
  for (const Layer& layer : layers_in(patient, Role::layer_weight))
    rows.parameter(layer.name).weight_norm = now_of(layer.find({"norm", "l2"}));
  rows.restart();
  for (const UpdateRatio& ratio : update_ratios(patient, 1)) rows.parameter(ratio.layer).update_ratio = ratio.median;
  rows.restart();
  for (const Layer& layer : layers_in(patient, Role::layer_activation)) {
    LayerRow& row = rows.module(layer.name);
    row.dead_share = now_of(layer.find({"dead-share"}));
    row.saturated_share = now_of(layer.find({"saturated-share"}));
  }
  for (LayerRow& row : all) {
    const bool both = row.gradient_norm && row.weight_norm && *row.weight_norm > 0;
    if (both) row.gradient_ratio = *row.gradient_norm / *row.weight_norm;
  }
}

/// A finding in a word, where one says more than its id.
std::string word_for(const Observation& seen) {
  struct Word {
    std::string_view finding;
    std::string_view word;
  };
  static constexpr std::array kWords = {Word{"dead-layer", "dead"},
                                        Word{"silent-layer", "silent"},
                                        Word{"exploding-layer", "exploding"},
                                        Word{"exploding-gradients", "exploding"},
                                        Word{"vanishing-by-depth", "vanishing"},
                                        Word{"vanishing-gradients", "vanishing"},
                                        Word{"gradient-nonfinite", "not finite"},
                                        Word{"weights-nonfinite", "not finite"},
                                        Word{"gradients-mostly-zero", "mostly zero"},
                                        Word{"weights-frozen", "frozen"},
                                        Word{"parameters-not-optimized", "frozen"},
                                        Word{"dead-neurons", "dead units"},
                                        Word{"saturated-activations", "saturated"},
                                        Word{"updates-too-large", "steps too long"},
                                        Word{"updates-too-small", "steps too short"},
                                        Word{"weight-norm-exploding", "weights grow"},
                                        Word{"weight-norm-collapsing", "weights shrink"}};
  const auto pattern = seen.qualifiers.find("pattern");
  if (pattern != seen.qualifiers.end() && pattern->second == "looks frozen") return "frozen";
  for (const Word& word : kWords) {
    if (word.finding == seen.finding) return std::string(word.word);
  }
  return seen.finding;
}

/// What the finding says of this layer: its own evidence, or the title where it has none.
std::string said_of(const Observation& seen, const std::string& layer) {
  for (const Evidence& evidence : seen.evidence) {
    const RoleGuess guess = guess_role(evidence.series);
    if (guess.layer == layer || evidence.series == layer) return evidence.text;
  }
  if (seen.layers.size() == 1) return seen.summary;
  const Finding* finding = find_finding(seen.finding);
  return finding == nullptr ? seen.summary : std::string(finding->title);
}

void mark(LayerRow& row, const Observation& seen, const std::string& layer) {
  if (!row.finding.empty()) return;
  row.status = word_for(seen);
  row.why = said_of(seen, layer);
  row.finding = seen.finding;
  row.severity = seen.severity;
}

/// The order in which findings have the word on a layer: those that single a few out come first, for a layer without a
/// gradient is dead also where steps are too short everywhere; then the worst.
std::vector<const Observation*> in_turn(const std::vector<Observation>& findings, std::size_t layers) {
  constexpr std::size_t kFew = 4;  // at most one layer in so many
  std::vector<const Observation*> turn;
  for (const Observation& seen : findings) turn.push_back(&seen);
  std::stable_partition(turn.begin(), turn.end(), [&](const Observation* seen) {
    return seen->severity > Severity::note && seen->layers.size() * kFew <= layers;
  });
  return turn;
}

/// The first finding that names a layer has the word on it.
void judge(const std::vector<Observation>& findings, std::vector<LayerRow>& rows) {
  std::unordered_map<std::string_view, std::vector<LayerRow*>> by_name;
  for (LayerRow& row : rows) by_name[row.layer].push_back(&row);
  for (LayerRow& row : rows) {
    const bool stands_for_module = row.kind != "activation" && (row.dead_share || row.saturated_share);
    if (stands_for_module && module_of(row.layer) != row.layer) by_name[module_of(row.layer)].push_back(&row);
  }
  for (const Observation* const each : in_turn(findings, rows.size())) {
    const Observation& seen = *each;
    for (const std::string& layer : seen.layers) {
      const auto named = by_name.find(layer);
      if (named == by_name.end()) continue;
      for (LayerRow* row : named->second) mark(*row, seen, layer);
    }
    if (seen.finding != "vanishing-gradients" || seen.evidence.empty()) continue;
    for (LayerRow& row : rows) {
      if (row.gradient_norm && *row.gradient_norm < seen.evidence.front().threshold) mark(row, seen, row.layer);
    }
  }
}

/// Weights that never change and have no gradient are frozen, which is no finding.
void add_frozen(const Patient& patient, std::vector<LayerRow>& rows) {
  constexpr std::uint64_t kFewest = 5;
  std::unordered_map<std::string_view, LayerRow*> by_name;
  for (LayerRow& row : rows) by_name.emplace(row.layer, &row);
  for (const Layer& layer : layers_in(patient, Role::layer_weight)) {
    const Series* norm = layer.find({"norm", "l2"});
    const auto row = by_name.find(layer.name);
    if (norm == nullptr || row == by_name.end() || row->second->gradient_norm || row->second->status != "ok") continue;
    const Bucket total = *norm->summary().total();
    if (total.count < kFewest || total.min != total.max) continue;
    row->second->status = "frozen";
    row->second->why = "its weights never change, and it has no gradient";
  }
}

LayerSpan span_of(std::string figure, std::optional<double> LayerRow::*value, const std::vector<LayerRow>& rows) {
  LayerSpan span;
  span.figure = std::move(figure);
  std::vector<double> values;
  for (const LayerRow& row : rows) {
    if (!(row.*value) || !std::isfinite(*(row.*value)) || is_small(kind_of_layer(row.layer))) continue;
    const double here = *(row.*value);
    if (values.empty() || here < span.lowest) {
      span.lowest = here;
      span.lowest_layer = row.layer;
    }
    if (values.empty() || here > span.highest) {
      span.highest = here;
      span.highest_layer = row.layer;
    }
    values.push_back(here);
  }
  span.layers = values.size();
  span.median = signal::median(values);
  return span;
}

}  // namespace

LayerTable layer_table(const Patient& patient, const std::vector<Observation>& findings) {
  LayerTable table;
  gather(patient, table.rows);
  judge(findings, table.rows);
  add_frozen(patient, table.rows);
  for (LayerSpan span : {span_of("gradient_norm", &LayerRow::gradient_norm, table.rows),
                         span_of("weight_norm", &LayerRow::weight_norm, table.rows),
                         span_of("update_ratio", &LayerRow::update_ratio, table.rows),
                         span_of("gradient_ratio", &LayerRow::gradient_ratio, table.rows),
                         span_of("dead_share", &LayerRow::dead_share, table.rows),
                         span_of("saturated_share", &LayerRow::saturated_share, table.rows)}) {
    if (span.layers > 0) table.spans.push_back(std::move(span));
  }
  return table;
}

}  // namespace osler
