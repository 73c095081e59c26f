// Asking a GPU and recording what it answers.
#include "monitor/gpu_ledger.h"

#include <algorithm>
#include <cmath>

namespace osler::monitor {

GpuLedger::GpuLedger(std::unique_ptr<stats::GpuEngine> engine, std::size_t parameters)
    : engine_(std::move(engine)), followed_(parameters) {}

Result<bool> GpuLedger::follow(Followed& followed, const stats::TensorView& view) {
  const bool fits = followed.memory != nullptr && followed.dtype == view.dtype() && followed.count == view.count();
  if (fits) return false;
  auto memory = engine_->allocate(stats::Batch::memory_to_follow(view.dtype(), view.count(), view.device()));
  if (!memory) return memory.error();
  followed = {std::move(*memory), view.dtype(), view.count(), 0, std::nullopt};
  return true;
}

Result<void> GpuLedger::fill(Sample& sample, TensorSource& source, bool gradients) {
  const std::size_t count = followed_.size();
  sample.batch.clear();
  sample.gradients.assign(count, std::nullopt);
  sample.weights.assign(count, std::nullopt);
  sample.absent.assign(count, false);
  sample.fresh.assign(count, false);
  sample.with_gradients = gradients;
  for (std::size_t i = 0; i < count; ++i) {
    if (gradients) {
      const auto gradient = source.gradient(i);
      if (gradient) sample.gradients[i] = sample.batch.summarize(*gradient, {.brief = true});
      sample.absent[i] = !gradient && !source.has_gradient(i);
    }
    const auto weight = source.weight(i);
    if (!weight) continue;
    const auto fresh = follow(followed_[i], *weight);
    if (!fresh) return fresh.error();
    sample.fresh[i] = *fresh;
    if (const auto number = sample.batch.follow(*weight, followed_[i].memory.get())) sample.weights[i] = *number;
  }
  return {};
}

Result<bool> GpuLedger::ask(TensorSource& source, std::int64_t step, bool gradients, void* stream) {
  std::size_t free = 0;
  while (free < samples_.size() && std::count(under_way_.begin(), under_way_.end(), free) > 0) ++free;
  if (free == samples_.size()) return false;
  Sample& sample = samples_[free];
  if (const auto filled = fill(sample, source, gradients); !filled) return filled.error();
  sample.step = step;
  if (const auto sent = engine_->submit(sample.batch, stream); !sent) {
    if (sent.error().code == ErrorCode::unsupported) return false;  // a graph is being captured
    return sent.error();
  }
  under_way_.push_back(free);
  asked_ = step;
  return true;
}

void GpuLedger::record_update(Recorder& recorder, const Sample& sample, std::size_t number,
                              const ParameterInfo& parameter) {
  Followed& followed = followed_[number];
  const std::size_t asked = *sample.weights[number];
  const double before = followed.norm;
  const bool next = followed.step == sample.step - 1 && !sample.fresh[number];
  followed.norm = sample.batch.summary(asked).l2();
  followed.step = sample.step;
  if (!next || !parameter.trainable) return;
  const double moved = std::sqrt(sample.batch.moved(asked));
  const std::string name = tensor_name(TensorKind::update, parameter.name);
  recorder.scalar(sample.step - 1, name + "#norm", moved);
  recorder.scalar(sample.step - 1, name + "#ratio", before > 0 ? moved / before : 0);
}

LateLook GpuLedger::record(Recorder& recorder, Sample& sample, const std::vector<ParameterInfo>& parameters) {
  LateLook late{sample.step, {}, engine_->seconds(sample.batch)};
  late.look.complete = sample.with_gradients;
  double squares = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    if (sample.gradients[i]) {
      const stats::TensorStats& gradient = sample.batch.summary(*sample.gradients[i]);
      recorder.tensor(sample.step, TensorKind::gradient, name, gradient);
      squares += gradient.l2() * gradient.l2();
      if (gradient.nan_count + gradient.inf_count > 0) {
        late.look.finite = false;
        late.look.first_bad = name;  // the last in the model's order is the nearest to the output
      }
    } else if (sample.with_gradients && sample.absent[i] && parameters[i].trainable) {
      recorder.scalar(sample.step, tensor_name(TensorKind::gradient, name) + "#norm", 0);
    }
    if (!sample.weights[i]) continue;
    if (sample.with_gradients) {
      recorder.tensor(sample.step, TensorKind::weight, name, sample.batch.summary(*sample.weights[i]));
    }
    record_update(recorder, sample, i, parameters[i]);
  }
  late.look.norm = std::sqrt(squares);
  if (late.look.complete) {
    recorder.scalar(sample.step, "grad_norm", late.look.finite ? late.look.norm : std::nan(""));
  }
  return late;
}

Result<std::vector<LateLook>> GpuLedger::collect(Recorder& recorder, const std::vector<ParameterInfo>& parameters,
                                                 bool wait) {
  std::vector<LateLook> landed;
  while (!under_way_.empty()) {
    Sample& sample = samples_[under_way_.front()];
    if (wait) engine_->wait(sample.batch);
    const Result<bool> there = engine_->poll(sample.batch);
    if (!there) {
      under_way_.clear();
      forget();
      return there.error();
    }
    if (!*there) break;
    under_way_.pop_front();
    landed.push_back(record(recorder, sample, parameters));
  }
  return landed;
}

}  // namespace osler::monitor
