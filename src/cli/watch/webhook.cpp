// Posting alerts with cpp-httplib.
#include "cli/watch/webhook.h"

#include <fmt/format.h>

#include <httplib.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

namespace osler::cli {
namespace {

constexpr int kTries = 3;
constexpr std::chrono::seconds kTimeout{5};
constexpr std::chrono::milliseconds kFirstPause{500};

/// Why a request got no answer, in words.
std::string why(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "nobody answers at this address";
    case httplib::Error::ConnectionTimeout:
      return "nobody answered in time";
    case httplib::Error::Read:
      return "the answer did not come in time";
    case httplib::Error::Write:
      return "the connection was closed";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "no secure connection could be made";
    default:
      return httplib::to_string(error);
  }
}

/// The host without scheme and port.
std::string_view host_of(std::string_view address) {
  address.remove_prefix(address.find("://") + 3);
  return address.substr(0, address.find(':'));
}

WebhookStyle style_of(const Webhook& webhook) {
  const std::string_view host = host_of(webhook.host);
  if (host == "hooks.slack.com") return WebhookStyle::slack;
  if ((host == "discord.com" || host == "discordapp.com") && webhook.path.starts_with("/api/webhooks/")) {
    return WebhookStyle::discord;
  }
  const bool teams = host.ends_with(".webhook.office.com") || host.ends_with(".logic.azure.com") ||
                     host.ends_with(".powerplatform.com");
  return teams ? WebhookStyle::teams : WebhookStyle::osler;
}

/// `text` with each of `signs` replaced by what stands beside it.
std::string replaced(std::string_view text, const std::map<char, std::string_view>& signs) {
  std::string out;
  for (const char c : text) {
    const auto found = signs.find(c);
    if (found == signs.end()) {
      out += c;
    } else {
      out += found->second;
    }
  }
  return out;
}

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
  Webhook webhook{url.substr(0, slash), slash == std::string::npos ? "/" : url.substr(slash)};
  webhook.style = style_of(webhook);
  return webhook;
}

std::optional<WebhookStyle> webhook_style_from(std::string_view name) {
  if (name == "osler") return WebhookStyle::osler;
  if (name == "slack") return WebhookStyle::slack;
  if (name == "discord") return WebhookStyle::discord;
  if (name == "teams") return WebhookStyle::teams;
  return std::nullopt;
}

std::string message_of(const Alert& alert, WebhookStyle style) {
  constexpr std::size_t kLongestDiscord = 1900;  // 2,000 signs are allowed
  using Json = nlohmann::ordered_json;
  const std::string text = to_message(alert);
  Json json;
  switch (style) {
    case WebhookStyle::osler:
      return to_json(alert);
    case WebhookStyle::slack:
      json = {{"text", replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}})}};
      break;
    case WebhookStyle::discord:
      json = {{"content", text.substr(0, kLongestDiscord)}, {"allowed_mentions", {{"parse", Json::array()}}}};
      break;
    case WebhookStyle::teams: {
      // What its Markdown would take for a link is set apart.
      const Json block = {
          {"type", "TextBlock"}, {"text", replaced(text, {{'[', "\\["}, {']', "\\]"}})}, {"wrap", true}};
      const Json card = {{"type", "AdaptiveCard"}, {"version", "1.4"}, {"body", Json::array({block})}};
      json = {{"type", "message"},
              {"attachments",
               Json::array({{{"contentType", "application/vnd.microsoft.card.adaptive"}, {"content", card}}})}};
      break;
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
                             : "the webhook cannot be reached: " + why(answer.error());
    if (answer && !passing(answer->status)) break;
  }
  return failure;
}

}  // namespace osler::cli
