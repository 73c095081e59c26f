// What a checkpoint holds, and how it is held against the training it is read into.
#include "osler/torch/checkpoint.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/optim/lbfgs.h>
#include <torch/serialize/archive.h>

#include <optional>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "torch/checkpoint_file.h"
#include "torch/optimizer_state.h"
#include "torch/saved_state.h"

namespace osler::torch {
namespace {

using ::torch::serialize::InputArchive;
using ::torch::serialize::OutputArchive;

/// Tensors with their names, in the model's order.
struct Named {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
};

Named named(const ::torch::OrderedDict<std::string, at::Tensor>& items) {
  Named result;
  for (const auto& item : items) {
    if (!item.value().defined()) continue;
    result.names.push_back(item.key());
    result.tensors.push_back(item.value().detach());
  }
  return result;
}

std::string type_of(const ::torch::optim::Optimizer& optimizer) {
  return c10::demangle(typeid(optimizer).name());
}

std::vector<std::int64_t> group_sizes(const ::torch::optim::Optimizer& optimizer) {
  std::vector<std::int64_t> sizes;
  for (const auto& group : optimizer.param_groups()) sizes.push_back(static_cast<std::int64_t>(group.params().size()));
  return sizes;
}

void write(OutputArchive& archive, const std::string& key, const Named& tensors) {
  archive.write(key + "_names", c10::IValue(tensors.names));
  archive.write(key, c10::IValue(tensors.tensors));
}

c10::IValue read_value(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value;
}

std::vector<std::string> read_strings(InputArchive& archive, const std::string& key) {
  std::vector<std::string> strings;
  const c10::IValue list = read_value(archive, key);
  for (const c10::IValue& value : list.toListRef()) strings.push_back(value.toStringRef());
  return strings;
}

Named read_named(InputArchive& archive, const std::string& key) {
  Named result{read_strings(archive, key + "_names"), read_value(archive, key).toTensorVector()};
  if (result.names.size() != result.tensors.size()) throw std::runtime_error(key + " are not as many as their names");
  return result;
}

// ---- What is written.

void write_notes(OutputArchive& archive, const CheckpointNotes& notes) {
  archive.write("step", c10::IValue(notes.step));
  archive.write("epoch", c10::IValue(notes.epoch));
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : notes.fields) {
    keys.push_back(key);
    values.push_back(value);
  }
  archive.write("field_names", c10::IValue(keys));
  archive.write("field_values", c10::IValue(values));
  Named tensors;
  for (const auto& [name, tensor] : notes.tensors) {
    if (!tensor.defined()) throw std::invalid_argument("the tensor " + name + " is not defined");
    tensors.names.push_back(name);
    tensors.tensors.push_back(tensor.detach());
  }
  write(archive, "tensors", tensors);
}

void write_random(OutputArchive& archive, const ::torch::nn::Module& model) {
  Named states;
  const RandomState now = RandomState::now(model.parameters());
  for (const auto& [device, state] : now.states()) {
    states.names.push_back(device.str());
    states.tensors.push_back(state);
  }
  write(archive, "random", states);
}

void write_scheduler(OutputArchive& archive, const SchedulerState& state) {
  archive.write("schedule", c10::IValue(state.schedule));
  archive.write("schedule_step", c10::IValue(state.step));
  archive.write("schedule_damping", c10::IValue(state.damping));
  archive.write("schedule_rates", c10::IValue(state.rates));
}

/// LBFGS keeps room for numbers that it works out anew in every step, and LibTorch cannot write that room while part of
/// it is empty. Takes it away, and puts it back when it is destroyed.
class WithoutScratch {
 public:
  explicit WithoutScratch(::torch::optim::Optimizer& optimizer) {
    for (const auto& [key, state] : optimizer.state()) {
      auto* const lbfgs = dynamic_cast<::torch::optim::LBFGSParamState*>(state.get());
      if (!lbfgs || !lbfgs->al()) continue;
      taken_.emplace_back(lbfgs, lbfgs->al());
      lbfgs->al().reset();
    }
  }
  ~WithoutScratch() {
    for (const auto& [lbfgs, room] : taken_) lbfgs->al() = room;
  }
  WithoutScratch(const WithoutScratch&) = delete;
  WithoutScratch& operator=(const WithoutScratch&) = delete;

 private:
  using Room = std::decay_t<decltype(std::declval<::torch::optim::LBFGSParamState&>().al())>;
  std::vector<std::pair<::torch::optim::LBFGSParamState*, Room>> taken_;
};

void write_parts(OutputArchive& archive, const CheckpointParts& parts) {
  write(archive, "parameters", named(parts.model.named_parameters()));
  write(archive, "buffers", named(parts.model.named_buffers()));
  if (parts.optimizer) {
    archive.write("optimizer_type", c10::IValue(type_of(*parts.optimizer)));
    archive.write("optimizer_groups", c10::IValue(group_sizes(*parts.optimizer)));
    OutputArchive nested(archive.compilation_unit());
    const WithoutScratch without_scratch(*parts.optimizer);
    parts.optimizer->save(nested);
    archive.write("optimizer", nested);
  }
  if (parts.scheduler) write_scheduler(archive, parts.scheduler->state());
  if (parts.loss_scale) {
    const LossScaleState& state = parts.loss_scale->state();
    archive.write("loss_scale", c10::IValue(state.scale));
    archive.write("loss_scale_good_steps", c10::IValue(state.good_steps));
    archive.write("loss_scale_overflows", c10::IValue(state.overflows));
  }
  if (parts.random) write_random(archive, parts.model);
}

// ---- What is read, and whether it fits.

/// A checkpoint that is whole but of another training.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string shape_of(const at::Tensor& tensor) {
  return fmt::format("{} of shape ({})", c10::toString(tensor.scalar_type()),
                     fmt::join(tensor.sizes().begin(), tensor.sizes().end(), ", "));
}

void require_same(const std::string& kind, const Named& own, const Named& read) {
  for (std::size_t i = 0; i < std::max(own.names.size(), read.names.size()); ++i) {
    if (i >= read.names.size())
      throw Mismatch(fmt::format("the model's {} {} is not in the checkpoint", kind, own.names[i]));
    if (i >= own.names.size())
      throw Mismatch(fmt::format("the checkpoint's {} {} is not in the model", kind, read.names[i]));
    if (own.names[i] != read.names[i]) {
      throw Mismatch(fmt::format("the model's {} {} is not in the checkpoint, which has {} in its place", kind,
                                 own.names[i], read.names[i]));
    }
    const at::Tensor& here = own.tensors[i];
    const at::Tensor& there = read.tensors[i];
    if (here.sizes() != there.sizes() || here.scalar_type() != there.scalar_type()) {
      throw Mismatch(fmt::format("the {} {} is {} in the model and {} in the checkpoint", kind, own.names[i],
                                 shape_of(here), shape_of(there)));
    }
  }
}

void require_part(InputArchive& archive, const std::string& key, const std::string& what) {
  c10::IValue value;
  if (!archive.try_read(key, value)) throw Mismatch("the checkpoint holds no " + what);
}

CheckpointNotes read_notes(InputArchive& archive) {
  CheckpointNotes notes;
  notes.step = read_value(archive, "step").toInt();
  notes.epoch = read_value(archive, "epoch").toInt();
  const std::vector<std::string> keys = read_strings(archive, "field_names");
  const std::vector<std::string> values = read_strings(archive, "field_values");
  if (keys.size() != values.size()) throw std::runtime_error("fields are not as many as their names");
  for (std::size_t i = 0; i < keys.size(); ++i) notes.fields[keys[i]] = values[i];
  Named tensors = read_named(archive, "tensors");
  for (std::size_t i = 0; i < tensors.names.size(); ++i) notes.tensors[tensors.names[i]] = tensors.tensors[i];
  return notes;
}

void read_optimizer(InputArchive& archive, ::torch::optim::Optimizer& optimizer) {
  InputArchive nested;
  archive.read("optimizer", nested);
  optimizer.state().clear();  // LibTorch's load leaves states behind that the archive does not have
  optimizer.load(nested);
}

SchedulerState read_scheduler(InputArchive& archive) {
  return {read_value(archive, "schedule").toStringRef(), read_value(archive, "schedule_step").toInt(),
          read_value(archive, "schedule_damping").toDouble(), read_value(archive, "schedule_rates").toDoubleVector()};
}

LossScaleState read_loss_scale(InputArchive& archive) {
  return {read_value(archive, "loss_scale").toDouble(), read_value(archive, "loss_scale_good_steps").toInt(),
          read_value(archive, "loss_scale_overflows").toInt()};
}

RandomState read_random(InputArchive& archive) {
  const Named read = read_named(archive, "random");
  RandomState::States states;
  for (std::size_t i = 0; i < read.names.size(); ++i) states.emplace_back(at::Device(read.names[i]), read.tensors[i]);
  return RandomState(std::move(states));
}

void require_optimizer(InputArchive& archive, const ::torch::optim::Optimizer& optimizer) {
  require_part(archive, "optimizer_type", "optimizer");
  const std::string type = read_value(archive, "optimizer_type").toStringRef();
  if (type != type_of(optimizer)) {
    throw Mismatch(fmt::format("the optimizer is {} and the checkpoint's is {}", type_of(optimizer), type));
  }
  const std::vector<std::int64_t> sizes = read_value(archive, "optimizer_groups").toIntVector();
  if (sizes != group_sizes(optimizer)) {
    throw Mismatch(fmt::format("the optimizer's groups hold {} parameters and the checkpoint's {}",
                               fmt::join(group_sizes(optimizer), " + "), fmt::join(sizes, " + ")));
  }
}

void copy_into(const Named& own, const Named& read) {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < own.tensors.size(); ++i) own.tensors[i].copy_(read.tensors[i]);
}

/// The optimizer and the scheduler, both or none.
void load_steering(InputArchive& archive, const CheckpointParts& parts) {
  std::optional<OptimizerState> before;
  if (parts.optimizer) before.emplace(*parts.optimizer);
  try {
    if (parts.optimizer) read_optimizer(archive, *parts.optimizer);
    if (parts.scheduler) parts.scheduler->load(read_scheduler(archive));
  } catch (...) {
    if (before) before->restore(*parts.optimizer);
    throw;
  }
}

/// Everything is read and held against the parts before the first of them is changed.
CheckpointNotes load_parts(InputArchive& archive, const CheckpointParts& parts) {
  const Named parameters = named(parts.model.named_parameters());
  const Named buffers = named(parts.model.named_buffers());
  const Named read_parameters = read_named(archive, "parameters");
  const Named read_buffers = read_named(archive, "buffers");
  require_same("parameter", parameters, read_parameters);
  require_same("buffer", buffers, read_buffers);
  if (parts.optimizer) require_optimizer(archive, *parts.optimizer);
  if (parts.scheduler) require_part(archive, "schedule", "schedule");
  if (parts.loss_scale) require_part(archive, "loss_scale", "loss scale");
  if (parts.random) require_part(archive, "random_names", "state of random numbers");
  CheckpointNotes notes = read_notes(archive);
  std::optional<LossScaleState> loss_scale;
  if (parts.loss_scale) loss_scale = read_loss_scale(archive);
  std::optional<RandomState> random;
  if (parts.random) random = read_random(archive);

  load_steering(archive, parts);
  copy_into(parameters, read_parameters);
  copy_into(buffers, read_buffers);
  if (loss_scale) parts.loss_scale->load(*loss_scale);
  if (random) random->restore();
  return notes;
}

}  // namespace

Result<void> save_checkpoint(const std::filesystem::path& path, const CheckpointParts& parts,
                             const CheckpointNotes& notes, FileSystem& files) {
  OutputArchive archive;
  try {
    write_notes(archive, notes);
    write_parts(archive, parts);
  } catch (const std::exception& error) {
    return Error{ErrorCode::invalid_argument, std::string("the training cannot be kept: ") + error.what(),
                 path.string()};
  }
  return write_archive(files, path, archive);
}

Result<CheckpointNotes> load_checkpoint(const std::filesystem::path& path, const CheckpointParts& parts,
                                        FileSystem& files) {
  InputArchive archive;
  if (Result<void> read = read_archive(files, path, archive); !read) return read.error();
  try {
    return load_parts(archive, parts);
  } catch (const Mismatch& error) {
    return Error{ErrorCode::invalid_argument, error.what(), path.string()};
  } catch (const std::invalid_argument& error) {  // the scheduler's
    return Error{ErrorCode::invalid_argument, error.what(), path.string()};
  } catch (const std::exception& error) {
    return Error{ErrorCode::corrupt, std::string("the checkpoint cannot be used: ") + error.what(), path.string()};
  }
}

}  // namespace osler::torch
