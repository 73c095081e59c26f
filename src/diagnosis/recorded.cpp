// Reading what a monitor recorded.
#include "diagnosis/recorded.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kShown = 4;

std::optional<Recorded> boiled_down(const Series& series) {
  const signal::Curve curve = layer_curve(series);
  if (curve.empty()) return std::nullopt;
  const Bucket total = *series.summary().total();
  const std::size_t third = std::max<std::size_t>(1, curve.size() / 3);
  Recorded record;
  record.series = series.name();
  record.points = curve.points();
  record.early = signal::median(std::span(curve.value).first(third));
  record.late = signal::median(std::span(curve.value).last(third));
  record.lowest = total.min;
  record.highest = total.max;
  record.last = curve.value.back();
  record.first_step = total.first_step;
  record.last_step = total.last_step;
  return record;
}

/// Training goes well whatever the layers look like: the loss fell to less than half of where it began, and the
/// accuracy, where there is one, is good.
bool learns_well(const Patient& patient) {
  constexpr double kHalf = 0.5;
  constexpr double kGoodAccuracy = 0.8;
  const Reading* loss = patient.training();
  if (!training_improves(patient) || loss->negated || !(loss->start > 0) || loss->end > kHalf * loss->start)
    return false;
  const auto accuracy = patient.best_accuracy();
  return !accuracy || *accuracy >= kGoodAccuracy;
}

/// How grave a layer's state is: it follows how the training goes, which is what the layers are for.
Severity graveness(const Patient& patient, const LayerRule& rule, bool critical) {
  if (critical && !training_improves(patient)) return Severity::critical;
  const bool well = critical ? learns_well(patient) : training_improves(patient);
  return rule.note_while_learning && well ? Severity::note : Severity::warning;
}

/// How far beyond its limit a value is, as a factor.
double margin_of(const LayerRule& rule, double value) {
  if (rule.too_large) return rule.warning > 0 ? value / rule.warning : 2;
  return value > 0 ? rule.warning / value : 100;
}

}  // namespace

std::optional<Recorded> recorded(const Patient& patient, std::string_view name) {
  const Series* series = patient.run().find(name);
  return series == nullptr || series->summary().empty() ? std::nullopt : boiled_down(*series);
}

double share_above(const Patient& patient, const Recorded& series, double limit) {
  const signal::Curve curve = layer_curve(*patient.run().find(series.series));
  double above = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    // A merged point counts by where its mean lies between its extremes.
    if (curve.low[i] > limit) {
      above += curve.count[i];
    } else if (curve.high[i] > limit) {
      const double width = curve.high[i] - curve.low[i];
      above += curve.count[i] * std::clamp((curve.value[i] - curve.low[i]) / width, 0.0, 1.0);
    }
  }
  return above / curve.points();
}

std::int64_t first_above(const Patient& patient, const Recorded& series, double limit) {
  for (const Bucket& bucket : patient.run().find(series.series)->summary().buckets()) {
    if (bucket.count > 0 && bucket.max > limit)
      return bucket.first_step == bucket.last_step ? bucket.first_step : bucket.max_step;
  }
  return series.first_step;
}

std::vector<std::string> recorded_under(const Patient& patient, std::string_view beginning) {
  std::vector<std::string> names;
  for (const Series& series : patient.run().all_series()) {
    if (series.name().starts_with(beginning)) names.push_back(series.name().substr(beginning.size()));
  }
  return names;
}

std::vector<LayerRecord> activation_records(const Patient& patient, std::string_view statistic, double fewest) {
  std::vector<LayerRecord> records;
  for (const Layer& layer : layers_in(patient, Role::layer_activation)) {
    const auto series = layer.series.find(statistic);
    if (series == layer.series.end()) continue;
    const auto record = boiled_down(*series->second);
    if (record && record->points >= fewest) records.push_back({layer.name, *record});
  }
  return records;
}

Verdict judge_layers(const Patient& patient, const LayerRule& rule) {
  std::vector<LayerRecord> records = activation_records(patient, rule.statistic, rule.fewest);
  if (records.empty()) return NotChecked{std::string(rule.missing)};
  std::erase_if(records, [&](const LayerRecord& layer) {
    return rule.too_large ? layer.record.late < rule.warning : layer.record.late > rule.warning;
  });
  if (records.empty()) return NotFound{};
  std::stable_sort(records.begin(), records.end(), [&](const LayerRecord& a, const LayerRecord& b) {
    return rule.too_large ? a.record.late > b.record.late : a.record.late < b.record.late;
  });
  const LayerRecord& worst = records.front();
  const bool critical = rule.critical != rule.warning &&
                        (rule.too_large ? worst.record.late >= rule.critical : worst.record.late <= rule.critical);
  Observation seen = observe(graveness(patient, rule, critical), confidence_of(margin_of(rule, worst.record.late)),
                             worst.record.first_step, worst.record.last_step,
                             rule.say(worst.layer, worst.record.late) +
                                 (records.size() > 1 ? "; so in " + std::to_string(records.size()) + " layers." : "."));
  for (std::size_t i = 0; i < records.size(); ++i) {
    seen.layers.push_back(records[i].layer);
    if (i >= kShown) continue;
    const Recorded& record = records[i].record;
    seen.evidence.push_back(evidence(record.series, record.first_step, record.last_step, record.late, rule.warning,
                                     "median of the last third: " + number(record.late)));
  }
  return seen;
}

Verdict judge_check(const Patient& patient, const CheckRule& rule) {
  const auto record = recorded(patient, rule.series);
  if (!record) return NotChecked{std::string(rule.missing)};
  const double share = share_above(patient, *record, rule.limit);
  if (!(share > rule.share)) return NotFound{};
  const std::int64_t since = first_above(patient, *record, rule.limit);
  Observation seen = observe(rule.severity, rule.confidence, since, record->last_step, std::string(rule.summary));
  seen.evidence.push_back(
      evidence(record->series, since, record->last_step, share, rule.share,
               per_cent(share) + " of " + number(record->points) + " checks, the first at " + at_step(since)));
  return seen;
}

}  // namespace osler
