// The runs in OpenMetrics text, for Prometheus.
#include <fmt/format.h>

#include <cmath>

#include "report/utf8.h"
#include "server/answers.h"

namespace osler::server {
namespace {

constexpr std::size_t kLongestName = 200;

/// A label's value: three characters are escaped, and bytes that are not UTF-8 are replaced, because for one of them
/// Prometheus would refuse the whole page.
std::string escaped(std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  std::string result;
  while (!text.empty() && result.size() < kLongestName) {
    const layout::CodePoint point = layout::decode(text);
    text.remove_prefix(point.bytes);
    if (point.valid && (point.value == U'\\' || point.value == U'"')) result += '\\';
    if (point.valid && point.value == U'\n') {
      result += "\\n";
    } else {
      layout::append_utf8(result, point.valid ? point.value : kReplacement);
    }
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string labels(const dashboard::Card& card) {
  return fmt::format("id=\"{}\",run=\"{}\"", card.id, escaped(card.name));
}

std::string head(std::string_view name, std::string_view help) {
  return fmt::format("# TYPE {0} gauge\n# HELP {0} {1}\n", name, help);
}

}  // namespace

std::string metrics_text(std::vector<dashboard::Card> cards) {
  std::erase_if(cards, [](const dashboard::Card& card) { return card.archived; });
  std::string text = head("osler_run_status", "1 for the verdict that the run has now.");
  for (const dashboard::Card& card : cards) {
    text += fmt::format("osler_run_status{{{},status=\"{}\"}} 1\n", labels(card), card.status);
  }
  text += head("osler_run_last_step", "The newest step of the run.");
  for (const dashboard::Card& card : cards)
    text += fmt::format("osler_run_last_step{{{}}} {}\n", labels(card), card.last_step);
  text += head("osler_run_loss", "The newest training loss.");
  for (const dashboard::Card& card : cards)
    text += fmt::format("osler_run_loss{{{}}} {}\n", labels(card), number(card.loss));
  text += head("osler_run_gradient_norm", "The newest gradient norm.");
  for (const dashboard::Card& card : cards) {
    text += fmt::format("osler_run_gradient_norm{{{}}} {}\n", labels(card), number(card.gradient_norm));
  }
  text += head("osler_run_findings", "How many findings the run has, by severity.");
  for (const dashboard::Card& card : cards) {
    for (const Severity severity : {Severity::note, Severity::warning, Severity::critical}) {
      text += fmt::format("osler_run_findings{{{},severity=\"{}\"}} {}\n", labels(card), to_string(severity),
                          card.findings[static_cast<std::size_t>(severity)]);
    }
  }
  return text + "# EOF\n";
}

}  // namespace osler::server
