// The engine for host memory: a few threads of its own and whoever waits.
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "stats/batch_work.h"

namespace osler::stats {

namespace {

using Work = Batch::Work;

/// Waking a crew costs some microseconds, which is what a grain or two take.
constexpr std::size_t kGrainsToShare = 4;

/// Default floating-point behaviour for as long as it lives: a training thread may flush subnormal numbers to zero, and
/// then they would be counted as zeros.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&before_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t before_;
};

void take(Work& work, std::size_t grain) {
  if (std::atomic_ref(work.taken[grain]).exchange(1, std::memory_order_relaxed) != 0) return;
  for (std::size_t i = grain == 0 ? 0 : work.grains[grain - 1].end; i < work.grains[grain].end; ++i) {
    run(work, work.pieces[i]);
  }
}

/// Takes grains until none is left: first those of stretches that this one of `members` threads has had in its hands
/// before, as far as one can know, so that they need not move from cache to cache and back.
void work_on(Work& work, std::size_t member = 0, std::size_t members = 1) {
  const DefaultFloatingPoint floating_point;
  const auto whole = static_cast<double>(members);
  for (std::size_t grain = 0; grain < work.grains.size(); ++grain) {
    if (static_cast<std::size_t>(work.grains[grain].home * whole) == member) take(work, grain);
  }
  for (std::size_t grain = 0; grain < work.grains.size(); ++grain) take(work, grain);
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(Crew crew) : crew_(std::move(crew)) {}
  explicit CpuEngine(unsigned threads) {
    threads_.reserve(threads);
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that wait do the work.
    }
  }

  ~CpuEngine() override {
    {
      std::unique_lock lock(mutex_);
      while (first_ != nullptr) help(*first_, lock);
      changed_.wait(lock, [this] { return unfinished_ == 0; });
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Result<void> submit(Batch& batch) override {
    Work& work = batch.work();
    const std::lock_guard lock(mutex_);
    if (busy(work)) {
      return Error{ErrorCode::invalid_argument, "the batch is still being worked on", "statistics engine"};
    }
    if (!on_host(work)) {
      return Error{ErrorCode::unsupported, "a tensor of the batch is not in host memory", "statistics engine"};
    }
    cut(work);
    work.taken.assign(work.grains.size(), 0);
    work.state = Work::State::queued;
    work.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &work;
    last_ = &work;
    ++unfinished_;
    changed_.notify_all();
    return {};
  }

  bool done(const Batch& batch) const override {
    const std::lock_guard lock(mutex_);
    return batch.work().state == Work::State::done;
  }

  void wait(Batch& batch) override {
    Work& work = batch.work();
    std::unique_lock lock(mutex_);
    if (work.state == Work::State::queued) help(work, lock);
    changed_.wait(lock, [&work] { return !busy(work); });
  }

 private:
  static bool busy(const Work& work) {
    return work.state == Work::State::queued || work.state == Work::State::finishing;
  }

  static bool on_host(Work& work) {
    const auto host = [](const TensorView& tensor) { return tensor.device().kind == Device::Kind::cpu; };
    for (std::size_t i = 0; i < work.summaries.size(); ++i) {
      if (!host(work.summaries[i].tensor)) return false;
    }
    for (std::size_t i = 0; i < work.pairs.size(); ++i) {
      if (!host(work.pairs[i].a)) return false;
    }
    for (std::size_t i = 0; i < work.units.size(); ++i) {
      if (!host(work.units[i].tensor)) return false;
    }
    for (std::size_t i = 0; i < work.rows.size(); ++i) {
      if (!host(work.rows[i].tensor)) return false;
    }
    return true;
  }

  /// Works on a queued batch with the lock released; whoever leaves last puts the answers together.
  void help(Work& work, std::unique_lock<std::mutex>& lock) {
    ++work.helpers;
    lock.unlock();
    if (crew_ && work.grains.size() >= kGrainsToShare) {
      crew_([&work](std::size_t member, std::size_t members) { work_on(work, member, members); });
    } else {
      work_on(work);
    }
    lock.lock();
    remove(work);  // no grain is left, so nobody else needs to come in
    if (--work.helpers > 0) return;
    work.state = Work::State::finishing;
    lock.unlock();
    finish(work);
    lock.lock();
    work.state = Work::State::done;
    --unfinished_;
    changed_.notify_all();
  }

  /// Takes a batch out of the queue if it is still there.
  void remove(Work& work) {
    Work* before = nullptr;
    for (Work* at = first_; at != nullptr; before = at, at = at->next) {
      if (at != &work) continue;
      (before == nullptr ? first_ : before->next) = work.next;
      if (last_ == &work) last_ = before;
      return;
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || first_ != nullptr; });
      if (closing_) return;
      help(*first_, lock);
    }
  }

  Crew crew_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Work* first_ = nullptr;
  Work* last_ = nullptr;
  std::size_t unfinished_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(unsigned threads) {
  return std::make_unique<CpuEngine>(threads);
}

std::unique_ptr<Engine> make_crew_engine(Crew crew) {
  return std::make_unique<CpuEngine>(std::move(crew));
}

}  // namespace osler::stats
