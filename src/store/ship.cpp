// The shipper gathers rows of all its runs, so that a thousand quiet runs cost the store one insert a second.
#include "osler/store/ship.h"

#include <chrono>
#include <map>
#include <utility>

#include "osler/store/store.h"
#include "store/courier.h"
#include "store/identity.h"
#include "store/moving_run.h"
#include "store/schema.h"

namespace osler {

class Shipper::Work final : public store::Hold {
 public:
  Work(const StoreAddress& address, const StoreAccess& access, ShipOptions options)
      : project_(address.project), options_(std::move(options)), courier_(address, access, options_) {}

  store::Pending& pending() override { return pending_; }
  store::Courier& courier() override { return courier_; }
  void make_room() override {
    if (pending_.events() >= options_.most_waiting) static_cast<void>(send());
  }

  bool send() override {
    for (auto& [id, run] : runs_) run.finish_batch();
    last_sent_ = Clock::now();
    if (pending_.empty()) return true;
    const auto batch = pending_.batch();
    if (!batch) {
      if (options_.tell) options_.tell(describe(batch.error()));
      return false;
    }
    if (!courier_.deliver(*batch)) return false;
    for (auto& [id, run] : runs_) run.sent();
    tally_.points += pending_.points();
    ++tally_.batches;
    tally_.bytes = courier_.bytes();
    pending_.clear();
    return true;
  }

  void tick() {
    courier_.work_off();
    const std::chrono::duration<double> waited = Clock::now() - last_sent_;
    if (waited.count() >= options_.every_seconds) static_cast<void>(send());
  }

  bool flush() { return send() && courier_.empty_spool(); }

  ShippedRun& run(const std::string& path, const std::string& name, const std::string& format) {
    const std::uint64_t id = store::identity({project_, options_.machine, path});
    const auto found = runs_.find(id);
    if (found != runs_.end()) {
      found->second.rename(name, format);
      return found->second;
    }
    ++tally_.runs;
    store::RunRow row;
    row.run = id;
    row.project = project_;
    row.name = name;
    row.machine = options_.machine;
    row.format = format;
    return runs_.try_emplace(id, *this, std::move(row)).first->second;
  }

  Result<void> check() { return store::check_schema(courier_.client()); }
  [[nodiscard]] const ShipTally& tally() const { return tally_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string project_;
  ShipOptions options_;
  store::Courier courier_;
  store::Pending pending_;
  std::map<std::uint64_t, store::MovingRun> runs_;
  Clock::time_point last_sent_ = Clock::now();
  ShipTally tally_;
};

Shipper::Shipper(const StoreAddress& address, const StoreAccess& access, ShipOptions options)
    : work_(std::make_unique<Work>(address, access, std::move(options))) {}
Shipper::~Shipper() = default;

Result<void> Shipper::check() {
  return work_->check();
}
ShippedRun& Shipper::run(const std::string& path, const std::string& name, const std::string& format) {
  return work_->run(path, name, format);
}
void Shipper::tick() {
  work_->tick();
}
bool Shipper::flush() {
  return work_->flush();
}
const ShipTally& Shipper::tally() const {
  return work_->tally();
}

}  // namespace osler
