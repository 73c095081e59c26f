// The delivery of alerts.
#include "cli/watch/messenger.h"

#include "cli/terminal.h"
#include "cli/watch/child.h"

namespace osler::cli {

Messenger::Messenger(Addresses addresses) : addresses_(std::move(addresses)), worker_([this] { work(); }) {}

Messenger::~Messenger() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
}

void Messenger::send(Alert alert) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(alert));
  }
  changed_.notify_one();
}

void Messenger::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Alert alert = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    deliver(alert);
    lock.lock();
  }
}

void Messenger::deliver(const Alert& alert) const {
  const std::string json = to_json(alert);
  if (addresses_.webhook) {
    const auto posted = post(*addresses_.webhook, message_of(alert, addresses_.webhook->style));
    if (!posted) complain(posted.error());
  }
  if (!addresses_.command.empty() && alert.finding.severity == Severity::critical) {
    const auto done = run_command(addresses_.command,
                                  {{"OSLER_RUN", alert.run},
                                   {"OSLER_FINDING", alert.finding.finding},
                                   {"OSLER_STEP", std::to_string(alert.finding.first_step)},
                                   {"OSLER_HEADLINE", alert.headline},
                                   {"OSLER_REMEDY", alert.remedy}},
                                  json);
    if (!done) complain("the command of --on-critical " + describe(done.error()));
  }
}

}  // namespace osler::cli
