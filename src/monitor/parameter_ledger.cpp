// Measuring parameters with the statistics engine.
#include "monitor/parameter_ledger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_set>

#include "monitor/finite.h"
#include "run/series_names.h"

namespace osler::monitor {
namespace {

constexpr auto kSmall = static_cast<std::uint64_t>(ParameterLedger::kSmall);
constexpr auto kUnguarded = static_cast<std::uint64_t>(ParameterLedger::kUnguarded);

/// "fc1" of "fc1.weight".
std::string layer_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

/// Whose gradients are looked at on every step, in the model's order.
std::vector<std::size_t> looked_at_always(const std::vector<ParameterInfo>& parameters) {
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> unguarded;
  std::unordered_set<std::string> guarded;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].count() > kSmall) continue;
    chosen.push_back(i);
    guarded.insert(layer_of(parameters[i].name));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].count() > kSmall && !guarded.contains(layer_of(parameters[i].name))) unguarded.push_back(i);
  }
  std::stable_sort(unguarded.begin(), unguarded.end(),
                   [&](std::size_t a, std::size_t b) { return parameters[a].count() < parameters[b].count(); });
  std::uint64_t left = kUnguarded;
  for (const std::size_t i : unguarded) {
    if (parameters[i].count() > left) break;
    left -= parameters[i].count();
    chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

bool is_half(stats::DType dtype) {
  return dtype == stats::DType::f16 || dtype == stats::DType::bf16;
}

std::uint16_t half_at(const void* data, std::size_t number) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(data) + number * sizeof bits, sizeof bits);
  return bits;
}

/// Of the weights that had a gradient, the share that did not change. All lie in the same order of memory.
double lost_share(const void* before, const void* after, const std::vector<bool>& pushed) {
  std::size_t count = 0;
  std::size_t lost = 0;
  for (std::size_t i = 0; i < pushed.size(); ++i) {
    if (!pushed[i]) continue;
    ++count;
    if (half_at(before, i) == half_at(after, i)) ++lost;
  }
  return count > 0 ? static_cast<double>(lost) / static_cast<double>(count) : 0;
}

}  // namespace

std::uint64_t ParameterInfo::count() const {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::uint64_t>(size);
  return product;
}

bool starts_by_rule(std::string_view name, std::span<const std::int64_t> shape) {
  const bool recurrent = name.find("_ih") != std::string_view::npos || name.find("_hh") != std::string_view::npos;
  const bool weight = name.substr(name.rfind('.') + 1).find("weight") != std::string_view::npos;
  return shape.size() >= 2 && shape[0] >= 2 && !recurrent && weight;
}

bool ParameterLedger::Memory::fit(const stats::TensorView& tensor) {
  const auto same = [](const std::vector<std::int64_t>& kept, std::span<const std::int64_t> now) {
    return kept.size() == now.size() && std::equal(kept.begin(), kept.end(), now.begin());
  };
  if (!words.empty() && dtype == tensor.dtype() && same(sizes, tensor.sizes()) && same(strides, tensor.strides())) {
    return true;
  }
  const std::size_t bytes = stats::Batch::memory_to_follow(tensor.dtype(), tensor.count());
  words.assign((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t) + 1, 0);
  dtype = tensor.dtype();
  sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  strides.assign(tensor.strides().begin(), tensor.strides().end());
  return false;
}

ParameterLedger::ParameterLedger(std::vector<ParameterInfo> parameters, unsigned threads)
    : parameters_(std::move(parameters)),
      always_(looked_at_always(parameters_)),
      entries_(parameters_.size()),
      engine_(stats::make_cpu_engine(threads)) {}

std::vector<LayerInfo> ParameterLedger::layers() const {
  std::vector<LayerInfo> layers;
  for (const ParameterInfo& parameter : parameters_) {
    const auto dot = parameter.name.rfind('.');
    layers.push_back({parameter.name, dot == std::string::npos ? parameter.name : parameter.name.substr(dot + 1),
                      parameter.shape, parameter.count()});
  }
  return layers;
}

void ParameterLedger::tell(std::size_t number, bool trainable, bool optimized) {
  parameters_[number].trainable = trainable;
  parameters_[number].optimized = optimized;
}

GradientLook ParameterLedger::look_at_small(TensorSource& source) {
  GradientLook look;
  for (const std::size_t i : always_) {
    const auto gradient = source.gradient(i);
    if (!gradient || all_finite(*gradient)) continue;
    look.finite = false;
    look.first_bad = parameters_[i].name;  // the last in the model's order is the nearest to the output
  }
  return look;
}

bool ParameterLedger::run(TensorSource& source) {
  bool started = false;
  source.unlocked([&] {
    started = static_cast<bool>(engine_->submit(batch_));
    if (started) engine_->wait(batch_);
  });
  return started;
}

void ParameterLedger::ask_gradients(TensorSource& source, bool paired) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.gradient_number.reset();
    entry.gradient.reset();
    entry.paired = false;
    const auto view = source.gradient(i);
    if (!view) continue;
    if (paired) {
      entry.paired = entry.gradient_before.fit(*view) && remembers_gradients_;
      if (const auto number = batch_.follow(*view, entry.gradient_before.words.data())) entry.gradient_number = *number;
    } else {
      entry.gradient_number = batch_.summarize(*view, {.brief = true});
    }
  }
}

GradientLook ParameterLedger::read_gradients(bool paired) {
  GradientLook look;
  look.complete = true;
  double squares = 0;
  stats::PairStats pair;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.gradient_number) continue;
    entry.gradient = batch_.summary(*entry.gradient_number);
    if (entry.gradient->nan_count + entry.gradient->inf_count > 0) {
      look.finite = false;
      look.first_bad = parameters_[i].name;
    }
    const double l2 = entry.gradient->l2();
    squares += l2 * l2;
    if (!paired) continue;
    const double before = std::exchange(entry.squared_before, l2 * l2);
    if (!entry.paired) continue;
    const double difference = batch_.moved(*entry.gradient_number);
    pair.merge({.dot = (before + l2 * l2 - difference) / 2,  // the law of cosines
                .a_squared = before,
                .b_squared = l2 * l2,
                .difference_squared = difference});
  }
  look.norm = std::sqrt(squares);
  if (paired) {
    if (look.finite && pair.a_squared > 0) pair_ = pair;
    remembers_gradients_ = look.finite && !remembers_gradients_;
  }
  return look;
}

GradientLook ParameterLedger::look(TensorSource& source, bool paired) {
  batch_.clear();
  ask_gradients(source, paired);
  return run(source) ? read_gradients(paired) : GradientLook{};
}

void ParameterLedger::ask_weights(TensorSource& source) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.weight_number.reset();
    entry.lost.reset();
    const auto view = source.weight(i);
    if (!view) continue;
    const bool fitted = entry.before.fit(*view);
    // Before the weights are followed: then the old ones are gone.
    if (remembers_ && fitted && entry.pushed.size() == view->count()) {
      entry.lost = lost_share(entry.before.words.data(), view->data(), entry.pushed);
    }
    if (const auto number = batch_.follow(*view, entry.before.words.data())) entry.weight_number = *number;
  }
}

void ParameterLedger::read_weights() {
  for (Entry& entry : entries_) {
    entry.moved.reset();
    if (!entry.weight_number) continue;
    const double norm_before = entry.weight ? entry.weight->l2() : 0;
    entry.weight = batch_.summary(*entry.weight_number);
    if (!remembers_) continue;
    entry.moved = std::sqrt(batch_.moved(*entry.weight_number));
    entry.relative = norm_before > 0 ? *entry.moved / norm_before : 0;
    entry.has_moved = entry.has_moved || *entry.moved > 0;
  }
}

void ParameterLedger::note_pushed(TensorSource& source) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].pushed.clear();
    const auto weight = source.weight(i);
    if (!weight || !is_half(weight->dtype())) continue;
    const auto gradient = source.gradient(i);
    // Element by element only where both lie alike in memory.
    if (!gradient || !is_half(gradient->dtype()) ||
        !std::equal(weight->strides().begin(), weight->strides().end(), gradient->strides().begin(),
                    gradient->strides().end())) {
      continue;
    }
    constexpr std::uint16_t kMagnitude = 0x7FFF;
    entries_[i].pushed.resize(gradient->count());
    for (std::size_t k = 0; k < gradient->count(); ++k) {
      entries_[i].pushed[k] = (half_at(gradient->data(), k) & kMagnitude) != 0;
    }
  }
}

GradientLook ParameterLedger::measure(TensorSource& source, bool paired) {
  batch_.clear();
  ask_gradients(source, paired);
  ask_weights(source);
  if (!run(source)) return {};
  GradientLook look = read_gradients(paired);
  read_weights();
  note_pushed(source);
  compared_ = remembers_;
  remembers_ = true;
  return look;
}

void ParameterLedger::record(Recorder& recorder, std::int64_t step, TensorSource& source) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const std::string& name = parameters_[i].name;
    // What was left of a gradient when the parameter was frozen is none.
    if (entry.gradient && parameters_[i].trainable) {
      recorder.tensor(step, TensorKind::gradient, name, *entry.gradient);
    } else if (parameters_[i].trainable && !source.has_gradient(i)) {
      recorder.scalar(step, tensor_name(TensorKind::gradient, name) + "#norm", 0);  // not part of the graph
    }
    if (entry.weight_number) recorder.tensor(step, TensorKind::weight, name, *entry.weight);
  }
}

void ParameterLedger::record_histograms(Recorder& recorder, std::int64_t step, TensorSource& source) {
  struct Asked {
    std::size_t number;
    TensorKind kind;
    const std::string* name;
  };
  std::vector<Asked> asked;
  batch_.clear();
  const auto ask = [&](const std::optional<stats::TensorView>& view, TensorKind kind, const std::string& name) {
    if (view && view->count() > 0) asked.push_back({batch_.summarize(*view, {.histogram = true}), kind, &name});
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].shape.size() < 2) continue;
    ask(source.weight(i), TensorKind::weight, parameters_[i].name);
    if (parameters_[i].trainable) ask(source.gradient(i), TensorKind::gradient, parameters_[i].name);
  }
  if (asked.empty() || !run(source)) return;
  for (const Asked& each : asked) {
    const stats::TensorStats& stats = batch_.summary(each.number);
    if (stats.finite_count() == 0) continue;
    const std::string name = tensor_name(each.kind, *each.name);
    recorder.histogram(step, name, to_histogram(batch_.histogram(each.number), stats));
    // What a brief look leaves out.
    recorder.scalar(step, name + "#mean-abs", stats.mean_abs());
    recorder.scalar(step, name + "#min", stats.min);
  }
}

void ParameterLedger::record_updates(Recorder& recorder, std::int64_t step, TensorSource& source) {
  if (!compared_) {
    batch_.clear();
    ask_weights(source);
    if (run(source)) read_weights();
    remembers_ = false;
  }
  compared_ = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.moved || !parameters_[i].trainable) continue;
    const std::string name = tensor_name(TensorKind::update, parameters_[i].name);
    recorder.scalar(step, name + "#norm", *entry.moved);
    recorder.scalar(step, name + "#ratio", *entry.relative);
    if (entry.lost) recorder.scalar(step, name + "#lost-share", *entry.lost);
  }
}

void ParameterLedger::record_start(Recorder& recorder, TensorSource& source) {
  batch_.clear();
  struct Asked {
    const ParameterInfo* parameter;
    std::size_t summary;
    std::size_t rows;
  };
  std::vector<Asked> asked;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterInfo& parameter = parameters_[i];
    if (parameter.table || !starts_by_rule(parameter.name, parameter.shape)) continue;
    const auto view = source.weight(i);
    if (!view || view->count() == 0) continue;
    const std::size_t summary = batch_.summarize(*view, {.brief = true});
    if (const auto rows = batch_.compare_rows(*view)) asked.push_back({&parameter, summary, *rows});
  }
  if (asked.empty() || !run(source)) return;
  for (const Asked& each : asked) {
    const stats::TensorStats& weight = batch_.summary(each.summary);
    const auto count = static_cast<double>(weight.count);
    const double inputs = count / static_cast<double>(each.parameter->shape[0]);
    const double size = weight.l2() / std::sqrt(count);
    recorder.scalar(0, series_name::completed(series_name::kInitScaleOf, each.parameter->name),
                    size / std::sqrt(2 / inputs));
    const double spread = batch_.rows(each.rows).spread;
    if (std::isfinite(spread))
      recorder.scalar(0, series_name::completed(series_name::kInitRowsOf, each.parameter->name), spread);
  }
}

}  // namespace osler::monitor
