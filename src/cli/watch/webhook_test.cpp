// What chat services are sent, and how an address tells which it is.
#include "cli/watch/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace osler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Alert alert_of(const std::string& run) {
  Alert alert;
  alert.run = run;
  alert.finding.finding = "loss-diverging";
  alert.finding.first_step = 95;
  alert.finding.summary = "loss climbs.";
  alert.remedy = "Divide the rate by 10.";
  return alert;
}

TEST(Webhook, AnAddressTellsWhoseItIs) {
  EXPECT_EQ(parse_webhook("https://hooks.slack.com/services/T0/B0/x")->style, WebhookStyle::slack);
  EXPECT_EQ(parse_webhook("https://discord.com/api/webhooks/1/x")->style, WebhookStyle::discord);
  EXPECT_EQ(parse_webhook("https://corp.webhook.office.com/webhookb2/x")->style, WebhookStyle::teams);
  EXPECT_EQ(parse_webhook("https://prod-1.westeurope.logic.azure.com:443/workflows/x")->style, WebhookStyle::teams);
  EXPECT_EQ(parse_webhook("https://example.org/hooks.slack.com")->style, WebhookStyle::osler);
  EXPECT_EQ(parse_webhook("https://slack.example.org/")->style, WebhookStyle::osler);
}

TEST(Webhook, SlackGetsItsTextAndNothingThatWouldCallEverybody) {
  const auto json = nlohmann::json::parse(message_of(alert_of("<!channel> a&b"), WebhookStyle::slack));
  EXPECT_EQ(json.size(), 1);
  EXPECT_THAT(json.at("text").get<std::string>(),
              StartsWith("Osler: &lt;!channel&gt; a&amp;b: loss-diverging at step"));
  EXPECT_THAT(json.at("text").get<std::string>(), HasSubstr("First remedy: Divide the rate by 10."));
}

TEST(Webhook, DiscordGetsNoMoreThanItTakesAndMentionsNobody) {
  const auto json =
      nlohmann::json::parse(message_of(alert_of("@everyone " + std::string(5000, 'x')), WebhookStyle::discord));
  EXPECT_LE(json.at("content").get<std::string>().size(), 2000);
  EXPECT_TRUE(json.at("allowed_mentions").at("parse").empty());
}

TEST(Webhook, TeamsGetsACardWithoutLinks) {
  const auto json = nlohmann::json::parse(message_of(alert_of("[run](http://evil)"), WebhookStyle::teams));
  const auto& card = json.at("attachments").at(0).at("content");
  EXPECT_EQ(card.at("type"), "AdaptiveCard");
  EXPECT_THAT(card.at("body").at(0).at("text").get<std::string>(), Not(HasSubstr("[run](")));
}

TEST(Webhook, OthersGetTheWholeAlert) {
  const auto json = nlohmann::json::parse(message_of(alert_of("run"), WebhookStyle::osler));
  EXPECT_EQ(json.at("schema"), "osler-alert/1");
}

}  // namespace
}  // namespace osler::cli
