// Messenger: carries alerts to the user's command and webhook without holding up the watching.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/watch/alert.h"
#include "cli/watch/webhook.h"

namespace osler::cli {

/// Where alerts go.
struct Addresses {
  std::string command;             ///< run by the shell for each critical finding; empty: none
  std::optional<Webhook> webhook;  ///< told of every alert
};

/// Delivers alerts in order, in a thread of its own. What cannot be delivered is reported on standard error, once each.
class Messenger {
 public:
  explicit Messenger(Addresses addresses);
  /// Waits until all alerts are delivered or given up.
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  void send(Alert alert);

 private:
  void deliver(const Alert& alert) const;
  void work();

  Addresses addresses_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Alert> waiting_;
  bool closing_ = false;
  std::jthread worker_;
};

}  // namespace osler::cli
