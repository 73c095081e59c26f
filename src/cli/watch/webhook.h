// Webhook: an address that alerts are posted to.
#pragma once

#include <string>

#include "osler/base/result.h"

namespace osler::cli {

/// Where to post.
struct Webhook {
  std::string host;  ///< "https://example.org:8443"
  std::string path;  ///< "/hooks/42?x=y"
};

/// Takes an http or https address apart.
[[nodiscard]] Result<Webhook> parse_webhook(const std::string& url);

/// Posts JSON. Tries again a few times while the other side does not answer or is busy; waits some seconds at most.
[[nodiscard]] Result<void> post(const Webhook& webhook, const std::string& json);

}  // namespace osler::cli
