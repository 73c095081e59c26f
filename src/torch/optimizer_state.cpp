// Copying and restoring optimizers: LibTorch's clone() shares tensors, so these are copied type by type.
#include "torch/optimizer_state.h"

#include <ATen/core/grad_mode.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>

#include <set>
#include <sstream>
#include <stdexcept>
#include <typeinfo>

namespace osler::torch {
namespace {

namespace optim = ::torch::optim;

using Tensors = std::vector<at::Tensor>;

// The tensors that each kind of state holds; undefined ones among them.
Tensors tensors_in(const optim::SGDParamState& state) {
  return {state.momentum_buffer()};
}
Tensors tensors_in(const optim::AdamParamState& state) {
  return {state.exp_avg(), state.exp_avg_sq(), state.max_exp_avg_sq()};
}
Tensors tensors_in(const optim::AdamWParamState& state) {
  return {state.exp_avg(), state.exp_avg_sq(), state.max_exp_avg_sq()};
}
Tensors tensors_in(const optim::AdagradParamState& state) {
  return {state.sum()};
}
Tensors tensors_in(const optim::RMSpropParamState& state) {
  return {state.square_avg(), state.momentum_buffer(), state.grad_avg()};
}
Tensors tensors_in(const optim::LBFGSParamState& state) {
  Tensors tensors = {state.d(), state.H_diag(), state.prev_flat_grad()};
  for (const auto* many : {&state.old_dirs(), &state.old_stps(), &state.ro()}) {
    tensors.insert(tensors.end(), many->begin(), many->end());
  }
  if (state.al()) tensors.insert(tensors.end(), state.al()->begin(), state.al()->end());
  return tensors;
}

// Exactly this type: a class derived from it may hold more.
template <typename Derived, typename Base>
const Derived* exactly(const Base& base) {
  return typeid(base) == typeid(Derived) ? static_cast<const Derived*>(&base) : nullptr;
}

template <typename... States>
std::optional<Tensors> tensors_of_first(const optim::OptimizerParamState& state) {
  std::optional<Tensors> tensors;
  const auto look = [&](const auto* known) {
    if (known) tensors = tensors_in(*known);
  };
  (look(exactly<States>(state)), ...);
  return tensors;
}

template <typename... Kinds, typename Base>
bool assign_first(Base& to, const Base& from) {
  const auto try_kind = [&](const auto* source) {
    using Kind = std::remove_cvref_t<decltype(*source)>;
    if (!source || !exactly<Kind>(to)) return false;
    static_cast<Kind&>(to) = *source;
    return true;
  };
  return (try_kind(exactly<Kinds>(from)) || ...);
}

// Nothing for a state that is not LibTorch's own.
std::optional<Tensors> tensors_of(const optim::OptimizerParamState& state) {
  return tensors_of_first<optim::SGDParamState, optim::AdamParamState, optim::AdamWParamState, optim::AdagradParamState,
                          optim::RMSpropParamState, optim::LBFGSParamState>(state);
}

// In place, so that references which others hold stay valid.
bool assign(optim::OptimizerParamState& to, const optim::OptimizerParamState& from) {
  return assign_first<optim::SGDParamState, optim::AdamParamState, optim::AdamWParamState, optim::AdagradParamState,
                      optim::RMSpropParamState, optim::LBFGSParamState>(to, from);
}
bool assign(optim::OptimizerOptions& to, const optim::OptimizerOptions& from) {
  return assign_first<optim::SGDOptions, optim::AdamOptions, optim::AdamWOptions, optim::AdagradOptions,
                      optim::RMSpropOptions, optim::LBFGSOptions>(to, from);
}

std::string serialised(const optim::OptimizerParamState& state) {
  ::torch::serialize::OutputArchive archive;
  state.serialize(archive);
  std::ostringstream bytes;
  archive.save_to(bytes);
  return std::move(bytes).str();
}

void read(optim::OptimizerParamState& state, const std::string& bytes) {
  std::istringstream stream(bytes);
  ::torch::serialize::InputArchive archive;
  archive.load_from(stream);
  state.serialize(archive);
}

Tensors copies_of(const Tensors& tensors) {
  Tensors copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.defined() ? tensor.detach().clone() : at::Tensor());
  }
  return copies;
}

void copy_into(const Tensors& tensors, const Tensors& values) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) tensors[i].detach().copy_(values[i]);
  }
}

}  // namespace

OptimizerState::OptimizerState(const optim::Optimizer& optimizer) {
  const at::NoGradGuard no_graph;
  try {
    for (const optim::OptimizerParamGroup& group : optimizer.param_groups()) {
      groups_.push_back({group.params(), group.has_options() ? group.options().clone() : nullptr});
    }
    defaults_ = optimizer.defaults().clone();
    for (const auto& [key, state] : optimizer.state()) {
      Entry entry{key, state->clone(), {}, std::nullopt};
      if (const std::optional<Tensors> tensors = tensors_of(*state)) {
        entry.values = copies_of(*tensors);
      } else {
        entry.serialised = serialised(*state);
      }
      entries_.push_back(std::move(entry));
    }
  } catch (const std::exception& error) {
    throw std::invalid_argument(
        "osler: the optimizer's state cannot be copied; its state and option types must implement clone() and "
        "serialize() as LibTorch's own do: " +
        std::string(error.what()));
  }
}

void OptimizerState::restore(optim::Optimizer& optimizer) const {
  const at::NoGradGuard no_graph;
  std::vector<optim::OptimizerParamGroup>& groups = optimizer.param_groups();
  while (groups.size() > groups_.size()) groups.pop_back();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& saved = groups_[i];
    groups[i].params() = saved.parameters;
    if (!saved.options) continue;
    if (!groups[i].has_options() || !assign(groups[i].options(), *saved.options)) {
      groups[i].set_options(saved.options->clone());
    }
  }
  static_cast<void>(assign(optimizer.defaults(), *defaults_));

  auto& states = optimizer.state();
  std::set<Key> kept;
  for (const Entry& entry : entries_) kept.insert(entry.key);
  std::vector<Key> gone;
  for (const auto& [key, state] : states) {
    if (!kept.contains(key)) gone.push_back(key);
  }
  for (const Key& key : gone) states.erase(key);
  for (const Entry& entry : entries_) {
    std::unique_ptr<optim::OptimizerParamState>& state = states[entry.key];
    if (!state || !assign(*state, *entry.shallow)) state = entry.shallow->clone();
    if (entry.serialised) {
      read(*state, *entry.serialised);
    } else {
      copy_into(*tensors_of(*state), entry.values);
    }
  }
}

}  // namespace osler::torch
