// Posting alerts with cpp-httplib.
#include "cli/watch/webhook.h"

#include <fmt/format.h>

#include <httplib.h>

#include <chrono>
#include <thread>

namespace osler::cli {
namespace {

constexpr int kTries = 3;
constexpr std::chrono::seconds kTimeout{5};
constexpr std::chrono::milliseconds kFirstPause{500};

/// Answers that may be another one a moment later.
bool passing(int status) {
  return status == 429 || status >= 500;
}

}  // namespace

Result<Webhook> parse_webhook(const std::string& url) {
  const auto wrong = [&](const char* why) { return Error{ErrorCode::invalid_argument, why, url}; };
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : url.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") return wrong("a webhook address begins with http:// or https://");
  const std::size_t host = scheme_end + 3;
  const std::size_t slash = url.find('/', host);
  const std::string authority = url.substr(host, slash == std::string::npos ? slash : slash - host);
  if (authority.empty() || authority.find_first_of(" @\t") != std::string::npos) {
    return wrong("the webhook address names no host");
  }
  return Webhook{url.substr(0, slash), slash == std::string::npos ? "/" : url.substr(slash)};
}

Result<void> post(const Webhook& webhook, const std::string& json) {
  Error failure{ErrorCode::io, "no answer", webhook.host};
  std::chrono::milliseconds pause = kFirstPause;
  for (int attempt = 0; attempt < kTries; ++attempt, pause *= 2) {
    if (attempt > 0) std::this_thread::sleep_for(pause);
    httplib::Client client(webhook.host);
    if (!client.is_valid())
      return Error{ErrorCode::invalid_argument, "the webhook address cannot be used", webhook.host};
    client.set_connection_timeout(kTimeout);
    client.set_read_timeout(kTimeout);
    client.set_write_timeout(kTimeout);
    const httplib::Result answer = client.Post(webhook.path, json, "application/json");
    if (answer && answer->status >= 200 && answer->status < 300) return {};
    failure.message = answer ? fmt::format("the webhook answered with status {}", answer->status)
                             : "the webhook cannot be reached: " + httplib::to_string(answer.error());
    if (answer && !passing(answer->status)) break;
  }
  return failure;
}

}  // namespace osler::cli
