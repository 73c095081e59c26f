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

ActivationLedger::Asked ActivationLedger::ask(stats::Batch& batch, std::string_view plain,
                                              const stats::TensorView& output) const {
  const auto shape = part_of(plain) == Part::activation ? activation_shape(plain) : std::nullopt;
  Asked asked;
  asked.saturates = shape && (shape->low != 0 || shape->high != 0);
  asked.counted = histograms_;
  stats::SummaryOptions options;
  options.histogram = histograms_;
  if (asked.saturates) {
    if (shape->low != 0) options.low = shape->low;
    options.high = shape->high;
  }
  batch.clear();
  asked.summary = batch.summarize(output, options);
  if (shape && shape->rectifies && output.sizes().size() >= 2) {
    if (const auto units = batch.count_units(output, unit_axis(output))) asked.units = *units;
  }
  return asked;
}

void ActivationLedger::answer(const stats::Batch& batch, const Asked& asked, Activation& activation) {
  activation.stats = batch.summary(asked.summary);
  activation.counts.reset();
  if (asked.counted && activation.stats.finite_count() > 0) activation.counts = batch.histogram(asked.summary);
  if (asked.saturates) activation.saturated = activation.stats.saturated_share();
  if (asked.units) activation.units = batch.units(*asked.units);
}

void ActivationLedger::measure(const std::string& layer, std::string_view plain, const stats::TensorView& output,
                               const OutputExtras& extras) {
  if (layer.empty() || output.count() < kFewestOutputs) return;
  const Asked asked = ask(batch_, plain, output);
  std::optional<std::size_t> rows;
  if (output.sizes().size() >= 2 && output.sizes()[0] >= 2 && part_of(plain) != Part::softmax) {
    if (const auto number = batch_.compare_rows(output)) rows = *number;
  }
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  Activation& activation = entry(layer);
  answer(batch_, asked, activation);
  if (rows) activation.rows = batch_.rows(*rows);
  activation.extras = extras;
}

bool ActivationLedger::measure_later(const std::string& layer, std::string_view plain, const stats::TensorView& output,
                                     void* stream) {
  constexpr std::size_t kMostPasses = 2;  // that may be under way
  if (layer.empty() || output.count() < kFewestOutputs || gpu_ == nullptr || late_.size() >= kMostPasses) return false;
  const auto same = [&](const auto& question) { return question->layer == layer; };
  if (std::any_of(asked_.begin(), asked_.end(), same)) return false;
  if (spare_.empty()) spare_.push_back(std::make_unique<Question>());
  std::unique_ptr<Question> question = std::move(spare_.back());
  spare_.pop_back();
  question->layer = layer;
  question->asked = ask(question->batch, plain, output);
  const bool sent = static_cast<bool>(gpu_->submit(question->batch, stream));
  (sent ? asked_ : spare_).push_back(std::move(question));
  return sent;
}

Result<bool> ActivationLedger::landed(Pass& pass, bool wait) {
  for (const auto& question : pass.questions) {
    if (wait) gpu_->wait(question->batch);
    Result<bool> there = gpu_->poll(question->batch);
    if (!there || !*there) return there;
  }
  return true;
}

Result<double> ActivationLedger::collect(Recorder& recorder, bool wait) {
  double seconds = 0;
  while (!late_.empty()) {
    Pass& pass = late_.front();
    const Result<bool> there = landed(pass, wait);
    if (!there) {
      late_.clear();
      return there.error();
    }
    if (!*there) break;
    for (auto& question : pass.questions) {
      Activation& activation = entry(question->layer);
      answer(question->batch, question->asked, activation);
      seconds += gpu_->seconds(question->batch);
      spare_.push_back(std::move(question));
    }
    for (const Activation& activation : activations_) record_one(recorder, pass.step, activation);
    clear();
    late_.pop_front();
  }
  return seconds;
}

void ActivationLedger::logits(const stats::TensorView& tensor) {
  if (tensor.count() == 0) return;
  batch_.clear();
  const std::size_t asked = batch_.summarize(tensor, {.brief = true});
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  logits_ = batch_.summary(asked).abs_max();
}

void ActivationLedger::record_one(Recorder& recorder, std::int64_t step, const Activation& activation) {
  recorder.tensor(step, TensorKind::activation, activation.layer, activation.stats,
                  activation.counts ? &*activation.counts : nullptr);
  const std::string name = tensor_name(TensorKind::activation, activation.layer);
  if (activation.saturated) recorder.scalar(step, name + "#saturated-share", *activation.saturated);
  if (activation.rows && std::isfinite(activation.rows->spread)) {
    recorder.scalar(step, name + "#spread", activation.rows->spread);
  }
  if (activation.extras.entropy) recorder.scalar(step, name + "#entropy", *activation.extras.entropy);
  if (activation.extras.drift) recorder.scalar(step, name + "#drift", *activation.extras.drift);
  if (!activation.units) return;
  const std::uint64_t places = std::max<std::uint64_t>(1, activation.units->places);
  const std::uint64_t length = std::max(kDeadBatches, (kDeadPlaces + places - 1) / places);
  auto window = dead_.try_emplace(activation.layer, activation.units->active.size(), length).first;
  window->second.add(*activation.units);
  if (window->second.full()) recorder.scalar(step, name + "#dead-share", window->second.dead_share());
}

void ActivationLedger::record(Recorder& recorder, std::int64_t step) {
  for (const Activation& activation : activations_) record_one(recorder, step, activation);
  if (logits_) recorder.scalar(step, series_name::kLogitsMax, *logits_);
  if (!asked_.empty()) {
    late_.push_back({step, std::move(asked_)});
    asked_.clear();
  }
  clear();
}

void ActivationLedger::clear() {
  activations_.clear();
  known_.clear();
  logits_.reset();
}

}  // namespace osler::monitor
