// The slow half of the lock: waiting for it.
#include "recorder/brief_lock.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace osler::recording {

void BriefLock::wait() {
  constexpr int kSpins = 200;
  constexpr std::chrono::microseconds kLongestNap(1000);
  std::chrono::microseconds nap(10);
  for (;;) {
    for (int i = 0; i < kSpins; ++i) {
      // Reading first leaves the cache line with the holder until there is something to win.
      if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, kLongestNap);
  }
}

}  // namespace osler::recording
