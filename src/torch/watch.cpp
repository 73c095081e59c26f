// Watching operations through at::RecordFunction; the only file that touches it.
#include "torch/watch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <atomic>
#include <exception>
#include <mutex>

// LibTorch's release libraries leave a member out of at::RecordFunction that its header has without NDEBUG; the module
// is therefore compiled with NDEBUG in every build.
#ifndef NDEBUG
#error "src/torch must be compiled with NDEBUG, as LibTorch itself was"
#endif

namespace osler::torch {
namespace {

std::atomic<OperationObserver*>& watching() {
  static std::atomic<OperationObserver*> observer{nullptr};
  return observer;
}

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

Operation operation_of(const at::RecordFunction& function) {
  Operation operation;
  operation.kind =
      function.scope() == at::RecordScope::BACKWARD_FUNCTION ? Operation::Kind::node : Operation::Kind::function;
  operation.name = function.name();
  operation.sequence = function.seqNr();
  operation.announced = &function;
  return operation;
}

/// Runs `tell` with the observer; what it computes is neither watched nor part of a graph.
template <typename Tell>
void show(Tell tell) {
  OperationObserver* observer = watching().load(std::memory_order_acquire);
  if (observer == nullptr) return;
  const bool builds_graph = at::GradMode::is_enabled();
  const at::DisableRecordFunctionGuard unwatched;
  const at::NoGradGuard no_graph;
  const std::lock_guard lock(one_at_a_time());
  try {
    tell(*observer, builds_graph);
  } catch (const std::exception&) {
    // An observer that cannot look at a tensor leaves it out: training must not notice that it is watched.
  }
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  show([&](OperationObserver& observer, bool builds_graph) {
    Operation operation = operation_of(function);
    operation.builds_graph = builds_graph;
    const auto inputs = function.inputs();
    operation.values = {inputs.data(), inputs.size()};
    observer.started(operation);
  });
  return nullptr;
}

void on_end(const at::RecordFunction& function, at::ObserverContext* /*context*/) {
  show([&](OperationObserver& observer, bool builds_graph) {
    Operation operation = operation_of(function);
    operation.builds_graph = builds_graph;
    const auto& outputs = function.outputs();
    operation.values = {outputs.data(), outputs.size()};
    observer.finished(operation);
  });
}

}  // namespace

Watch::Watch(OperationObserver& observer) {
  OperationObserver* none = nullptr;
  active_ = watching().compare_exchange_strong(none, &observer);
  if (!active_) return;
  handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                           .needsInputs(true)
                                           .needsOutputs(true)
                                           .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

Watch::~Watch() {
  if (!active_) return;
  at::removeCallback(handle_);
  watching().store(nullptr, std::memory_order_release);
}

std::vector<bool> destinations_of(const Operation& operation) {
  if (operation.announced == nullptr) return {};
  const auto name = operation.announced->operator_name();
  // The plain variant of an operation has no such argument and need not be looked up.
  if (!name || name->overload_name.empty()) return {};
  const auto known = c10::Dispatcher::singleton().findSchema(*name);
  if (!known) return {};
  std::vector<bool> destinations;
  for (const c10::Argument& argument : known->schema().arguments()) destinations.push_back(argument.is_out());
  return destinations;
}

OperationObserver* current_observer() {
  return watching().load(std::memory_order_acquire);
}

}  // namespace osler::torch
