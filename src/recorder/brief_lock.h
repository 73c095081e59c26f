// BriefLock: a lock for a few dozen instructions, cheaper to take than a mutex when nobody else wants it.
#pragma once

#include <atomic>

namespace osler::recording {

/// A training takes it thousands of times per step, so the free case is one exchange and one store. Who finds it taken
/// spins for a moment and then sleeps in between, so a holder that lost its core gets it back whatever the priorities.
class BriefLock {
 public:
  BriefLock() = default;
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

  void lock() {
    if (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait();

  std::atomic<bool> held_{false};
};

}  // namespace osler::recording
