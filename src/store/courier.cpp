// Pauses grow while the store is away and are forgotten when it is back.
#include "store/courier.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace osler::store {
namespace {

constexpr std::chrono::milliseconds kFirstPause{250};
constexpr std::chrono::milliseconds kLongestPause{8000};
constexpr std::chrono::milliseconds kMoment{500};

}  // namespace

Courier::Courier(StoreAddress address, const StoreAccess& access, const ShipOptions& options)
    : client_(std::move(address), access),
      spool_folder_(options.spool),
      spool_bytes_(options.spool_bytes),
      tell_(options.tell),
      stop_(options.stop),
      pause_(kFirstPause) {
  if (const auto opened = open_spool(); !opened) tell(describe(opened.error()));
}

Result<void> Courier::open_spool() {
  if (spool_folder_.empty()) return {};
  auto spool = Spool::open(spool_folder_, spool_bytes_);
  if (!spool) return spool.error();
  spool_.emplace(std::move(*spool));
  return {};
}

void Courier::tell(const std::string& words) const {
  if (tell_) tell_(words);
}

void Courier::failed(const Error& error) {
  if (const std::string words = describe(error); words != trouble_) {
    trouble_ = words;
    tell(words + "; nothing is lost, trying again");
  }
  next_try_ = Clock::now() + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void Courier::succeeded() {
  if (!trouble_.empty()) tell("the store is there again");
  trouble_.clear();
  pause_ = kFirstPause;
  next_try_ = {};
}

/// Lets the time to the next try pass; false when it was told to stop meanwhile.
bool Courier::wait() {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_until(lock, stop_, next_try_, [] { return false; });
  return !stop_.stop_requested();
}

Result<void> Courier::send(const std::vector<Insert>& batch) {
  for (const Insert& insert : batch) {
    if (auto done = client_.insert(insert); !done) {
      failed(done.error());
      return done;
    }
    bytes_ += insert.body.size();
  }
  succeeded();
  return {};
}

/// False when it could not be sent and is still there.
bool Courier::send_oldest() {
  const auto batch = spool_->front();
  if (!batch) {
    // It must not stand in the way of the others for ever.
    tell(describe(batch.error()) + "; it is left there as .broken");
    spool_->set_aside();
    return true;
  }
  if (!send(*batch)) return false;
  spool_->pop();
  return true;
}

bool Courier::deliver(const std::vector<Insert>& batch) {
  for (;;) {
    if (spool_ && !spool_->empty()) work_off();
    const bool in_turn = !spool_ || spool_->empty();
    if (in_turn && due() && send(batch)) return true;
    if (spool_ && spool_->has_room()) {
      const auto kept = spool_->push(batch);
      if (kept) {
        told_full_ = false;
        return true;
      }
      failed(kept.error());
    } else if (spool_ && !std::exchange(told_full_, true)) {
      tell(fmt::format("{} MB wait for the store, and no more may: the source is held up", spool_bytes_ >> 20U));
    }
    if (!wait()) return false;
  }
}

void Courier::work_off() {
  const auto until = Clock::now() + kMoment;
  while (spool_ && !spool_->empty() && due() && Clock::now() < until) {
    if (!send_oldest()) return;
  }
}

bool Courier::empty_spool() {
  while (spool_ && !spool_->empty()) {
    if (!due() && !wait()) return false;
    if (!send_oldest() && !wait()) return false;
  }
  return true;
}

std::optional<Rows> Courier::ask(const std::string& sql) {
  for (;;) {
    if (stop_.stop_requested()) return std::nullopt;
    auto rows = client_.rows(sql);
    if (rows) {
      succeeded();
      return std::move(*rows);
    }
    failed(rows.error());
    if (!wait()) return std::nullopt;
  }
}

}  // namespace osler::store
