// Watch: shows every ATen operation of this thread, forward and backward, to an observer.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace at {
struct RecordFunction;
}

namespace osler::torch {

/// One operation as LibTorch announces it.
struct Operation {
  enum class Kind {
    function,  ///< an operation of ATen, or a region that someone named
    node,      ///< a node of the backward graph; its operations come nested in it
  };
  Kind kind = Kind::function;
  std::string_view name;                ///< "aten::relu", "ReluBackward0"
  std::int64_t sequence = -1;           ///< ties a backward node to the forward operation that made it; -1 for none
  bool builds_graph = true;             ///< a backward pass may follow
  std::span<const c10::IValue> values;  ///< inputs at the start, outputs at the end
  const at::RecordFunction* announced = nullptr;
};

/// Which of an operation's arguments it only writes to, as `out` of "aten::sum.out"; empty when there are none.
[[nodiscard]] std::vector<bool> destinations_of(const Operation& operation);

/// Is told of operations as they start and end, properly nested. It may compute with tensors: what it does itself is
/// not shown to it, and builds no graph. Exceptions end in the watch.
class OperationObserver {
 public:
  virtual ~OperationObserver() = default;
  virtual void started(const Operation& operation) = 0;
  virtual void finished(const Operation& operation) = 0;
};

/// Shows the operations of the thread it was made on, and of the backward threads that work for it, as long as it
/// lives. One watch at a time in a process: a second one sees nothing while the first lives.
class Watch {
 public:
  explicit Watch(OperationObserver& observer);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Whether this watch is the one that sees.
  [[nodiscard]] bool active() const { return active_; }

 private:
  bool active_ = false;
  std::uint64_t handle_ = 0;
};

/// The observer of the watch that lives, or null.
[[nodiscard]] OperationObserver* current_observer();

}  // namespace osler::torch
