// Measuring layer outputs as they are computed.
#include "monitor/activation_ledger.h"

#include <algorithm>
#include <cmath>

#include "monitor/operations.h"
#include "run/series_names.h"

namespace osler::monitor {
namespace {

constexpr std::uint64_t kFewestOutputs = 2;  // one number has no spread: a model may be asked for a single point
constexpr std::uint64_t kDeadBatches = 8;    // batches in which a dead unit was silent, at least
constexpr std::uint64_t kDeadPlaces = 256;   // samples and positions in which it was silent, at least

/// The dimension along which units lie: channels for images, features for everything else.
std::size_t unit_axis(const stats::TensorView& tensor) {
  return tensor.sizes().size() >= 4 ? 1 : tensor.sizes().size() - 1;
}

}  // namespace

ActivationLedger::ActivationLedger() : engine_(stats::make_cpu_engine(0)) {}

ActivationLedger::Activation& ActivationLedger::entry(const std::string& layer) {
  const auto [at, fresh] = known_.try_emplace(layer, activations_.size());
  if (fresh) activations_.push_back({layer, {}, {}, {}, {}, {}, {}});
  return activations_[at->second];
}

void ActivationLedger::measure(const std::string& layer, std::string_view plain, const stats::TensorView& output,
                               const OutputExtras& extras) {
  if (layer.empty() || output.count() < kFewestOutputs) return;
  const Part part = part_of(plain);
  const auto shape = part == Part::activation ? activation_shape(plain) : std::nullopt;
  const bool saturates = shape && (shape->low != 0 || shape->high != 0);
  stats::SummaryOptions options;
  options.histogram = histograms_;
  if (saturates) {
    if (shape->low != 0) options.low = shape->low;
    options.high = shape->high;
  }
  batch_.clear();
  const std::size_t summary = batch_.summarize(output, options);
  std::optional<std::size_t> units;
  if (shape && shape->rectifies && output.sizes().size() >= 2) {
    if (const auto asked = batch_.count_units(output, unit_axis(output))) units = *asked;
  }
  std::optional<std::size_t> rows;
  if (output.sizes().size() >= 2 && output.sizes()[0] >= 2 && part != Part::softmax) {
    if (const auto asked = batch_.compare_rows(output)) rows = *asked;
  }
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  Activation& activation = entry(layer);
  activation.stats = batch_.summary(summary);
  activation.counts.reset();
  if (histograms_ && activation.stats.finite_count() > 0) activation.counts = batch_.histogram(summary);
  if (saturates) activation.saturated = activation.stats.saturated_share();
  if (units) activation.units = batch_.units(*units);
  if (rows) activation.rows = batch_.rows(*rows);
  activation.extras = extras;
}

void ActivationLedger::logits(const stats::TensorView& tensor) {
  if (tensor.count() == 0) return;
  batch_.clear();
  const std::size_t asked = batch_.summarize(tensor, {.brief = true});
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  logits_ = batch_.summary(asked).abs_max();
}

void ActivationLedger::record(Recorder& recorder, std::int64_t step) {
  for (const Activation& activation : activations_) {
    recorder.tensor(step, TensorKind::activation, activation.layer, activation.stats,
                    activation.counts ? &*activation.counts : nullptr);
    const std::string name = tensor_name(TensorKind::activation, activation.layer);
    if (activation.saturated) recorder.scalar(step, name + "#saturated-share", *activation.saturated);
    if (activation.rows && std::isfinite(activation.rows->spread)) {
      recorder.scalar(step, name + "#spread", activation.rows->spread);
    }
    if (activation.extras.entropy) recorder.scalar(step, name + "#entropy", *activation.extras.entropy);
    if (activation.extras.drift) recorder.scalar(step, name + "#drift", *activation.extras.drift);
    if (!activation.units) continue;
    const std::uint64_t places = std::max<std::uint64_t>(1, activation.units->places);
    const std::uint64_t length = std::max(kDeadBatches, (kDeadPlaces + places - 1) / places);
    auto window = dead_.try_emplace(activation.layer, activation.units->active.size(), length).first;
    window->second.add(*activation.units);
    if (window->second.full()) recorder.scalar(step, name + "#dead-share", window->second.dead_share());
  }
  if (logits_) recorder.scalar(step, series_name::kLogitsMax, *logits_);
  clear();
}

void ActivationLedger::clear() {
  activations_.clear();
  known_.clear();
  logits_.reset();
}

}  // namespace osler::monitor
