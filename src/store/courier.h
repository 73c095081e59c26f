// Courier: carries batches to the store, however often it takes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/store/ship.h"
#include "store/client.h"
#include "store/spool.h"

namespace osler::store {

/// Delivers batches in their order. What has an unknown end is sent again: rows are known by their keys, so that twice
/// is once.
class Courier {
 public:
  Courier(StoreAddress address, const StoreAccess& access, const ShipOptions& options);

  /// Returns when the store has the batch, or the spool keeps it. False when it was told to stop before.
  [[nodiscard]] bool deliver(const std::vector<Insert>& batch);
  /// Sends what waits in the spool, for a moment; nothing while the store is known to be away.
  void work_off();
  /// Sends all that waits in the spool. False when it was told to stop before; then it is still there.
  [[nodiscard]] bool empty_spool();
  /// Asks until there is an answer. Nothing when it was told to stop before.
  [[nodiscard]] std::optional<Rows> ask(const std::string& sql);

  Client& client() { return client_; }
  /// What was sent, compressed.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Result<void> open_spool();
  [[nodiscard]] bool due() const { return Clock::now() >= next_try_; }
  [[nodiscard]] Result<void> send(const std::vector<Insert>& batch);
  [[nodiscard]] bool send_oldest();
  void failed(const Error& error);
  void succeeded();
  [[nodiscard]] bool wait();
  void tell(const std::string& words) const;

  Client client_;
  std::filesystem::path spool_folder_;
  std::uint64_t spool_bytes_;
  std::function<void(const std::string&)> tell_;
  std::stop_token stop_;
  std::optional<Spool> spool_;
  std::string trouble_;  // what was told last
  Clock::time_point next_try_;
  std::chrono::milliseconds pause_;
  std::uint64_t bytes_ = 0;
  bool told_full_ = false;
};

}  // namespace osler::store
