// Webhook: an address that alerts are posted to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/watch/alert.h"
#include "osler/base/result.h"

namespace osler::cli {

/// What kind of message the other side takes.
enum class WebhookStyle { osler, slack, discord, teams };
[[nodiscard]] std::optional<WebhookStyle> webhook_style_from(std::string_view name);

/// Where to post.
struct Webhook {
  std::string host;  ///< "https://example.org:8443"
  std::string path;  ///< "/hooks/42?x=y"
  WebhookStyle style = WebhookStyle::osler;
};

/// Takes an http or https address apart. Whose it is tells the style.
[[nodiscard]] Result<Webhook> parse_webhook(const std::string& url);

/// The alert as the JSON that the style asks for. What a chat service would take for markup or for a call to everybody
/// is made harmless: run and series names come from logs.
[[nodiscard]] std::string message_of(const Alert& alert, WebhookStyle style);

/// Posts JSON. Tries again a few times while the other side does not answer or is busy; waits some seconds at most.
[[nodiscard]] Result<void> post(const Webhook& webhook, const std::string& json);

}  // namespace osler::cli
