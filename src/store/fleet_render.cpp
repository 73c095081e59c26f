// The fleet as text, as JSON and as OpenMetrics.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "osler/store/fleet.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "store/client.h"
#include "store/history.h"

namespace osler {
namespace {

constexpr std::size_t kRunsShown = 20;
constexpr std::size_t kCausesShown = 8;

/// "41 s", "12 min", "3.4 h".
std::string span(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

/// Universal time, to the minute.
std::string moment(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : layout::clean(text, true)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

nlohmann::ordered_json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

std::string sick_lines(const SickRun& run, const TextOptions& options) {
  const auto clean = [&](std::string_view text) { return layout::clean(text, options.unicode); };
  std::string text = fmt::format("{:<8} {}{}\n", run.critical ? "critical" : "warning", clean(run.card.name),
                                 run.running ? "  (running)" : "");
  text += "         " + clean(run.headline) + "\n";
  std::string last = fmt::format("         since {}", moment(run.began));
  if (run.hours > 0) last += ", " + span(run.hours * 3600) + " spent after it";
  if (!run.cause.empty()) last += fmt::format("; probably {} ({:.0f} %)", clean(run.cause), 100 * run.probability);
  return text + last + "\n";
}

}  // namespace

std::string render_text(const Fleet& fleet, const TextOptions& options) {
  std::string text = fmt::format(
      "{}: {} critical, {} with a warning, {} healthy, {} too short to judge, {} not examined yet; {} running\n",
      fleet.project.empty() ? "all projects" : layout::clean(fleet.project, options.unicode), fleet.critical,
      fleet.warning, fleet.healthy, fleet.insufficient, fleet.unexamined, fleet.running);
  if (fleet.hours > 0) {
    text += fmt::format("{} of training, {} of them after an illness had begun\n", span(fleet.hours * 3600),
                        span(fleet.hours_after_illness * 3600));
  }
  if (fleet.notice_seconds) {
    text += fmt::format("half of the illnesses were seen within {}\n", span(*fleet.notice_seconds));
  }
  if (!fleet.causes.empty()) text += "\nmost frequent causes\n";
  for (std::size_t i = 0; i < std::min(fleet.causes.size(), kCausesShown); ++i) {
    text += fmt::format("{:>6}  {}\n", fleet.causes[i].runs, layout::clean(fleet.causes[i].cause, options.unicode));
  }
  if (!fleet.sick.empty()) text += "\n";
  const std::size_t shown = options.verbose ? fleet.sick.size() : std::min(fleet.sick.size(), kRunsShown);
  for (std::size_t i = 0; i < shown; ++i) text += sick_lines(fleet.sick[i], options);
  if (shown < fleet.sick.size()) text += fmt::format("and {} more: --verbose\n", fleet.sick.size() - shown);
  return text;
}

std::string render_json(const Fleet& fleet) {
  using Json = nlohmann::ordered_json;
  Json sick = Json::array();
  for (const SickRun& run : fleet.sick) {
    sick.push_back({{"id", to_text(run.card.id)},
                    {"project", run.card.project},
                    {"name", run.card.name},
                    {"machine", run.card.machine},
                    {"tags", run.card.tags},
                    {"running", run.running},
                    {"status", run.critical ? "critical" : "warning"},
                    {"headline", run.headline},
                    {"findings", run.findings},
                    {"cause", run.cause},
                    {"probability", run.probability},
                    {"began", number(run.began)},
                    {"seen", number(run.seen)},
                    {"hours_after_illness", run.hours}});
  }
  Json causes = Json::array();
  for (const CauseCount& cause : fleet.causes) causes.push_back({{"cause", cause.cause}, {"runs", cause.runs}});
  const Json json = {{"schema", "osler-fleet/1"},
                     {"project", fleet.project},
                     {"runs",
                      {{"critical", fleet.critical},
                       {"warning", fleet.warning},
                       {"healthy", fleet.healthy},
                       {"insufficient_data", fleet.insufficient},
                       {"unexamined", fleet.unexamined}}},
                     {"running", fleet.running},
                     {"hours", fleet.hours},
                     {"hours_after_illness", fleet.hours_after_illness},
                     {"median_seconds_to_notice", fleet.notice_seconds ? Json(*fleet.notice_seconds) : Json()},
                     {"causes", causes},
                     {"sick", sick}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_metrics(const Fleet& fleet) {
  const std::string project = label_value(fleet.project);
  std::string text = "# TYPE osler_fleet_runs gauge\n";
  const auto runs = [&](std::string_view status, std::size_t count) {
    text += fmt::format("osler_fleet_runs{{project=\"{}\",status=\"{}\"}} {}\n", project, status, count);
  };
  runs("critical", fleet.critical);
  runs("warning", fleet.warning);
  runs("healthy", fleet.healthy);
  runs("insufficient-data", fleet.insufficient);
  runs("unexamined", fleet.unexamined);
  const auto figure = [&](std::string_view name, double value) {
    text += fmt::format("# TYPE osler_fleet_{0} gauge\nosler_fleet_{0}{{project=\"{1}\"}} {2}\n", name, project, value);
  };
  figure("running", static_cast<double>(fleet.running));
  figure("hours", fleet.hours);
  figure("hours_after_illness", fleet.hours_after_illness);
  if (fleet.notice_seconds) figure("median_seconds_to_notice", *fleet.notice_seconds);
  if (!fleet.causes.empty()) text += "# TYPE osler_fleet_sick_runs gauge\n";
  for (const CauseCount& cause : fleet.causes) {
    text += fmt::format("osler_fleet_sick_runs{{project=\"{}\",cause=\"{}\"}} {}\n", project, label_value(cause.cause),
                        cause.runs);
  }
  return text + "# EOF\n";
}

Result<std::string> render_history(const StoreAddress& address, const StoreAccess& access, const RunCard& card,
                                   const TextOptions& options) {
  store::Client client(address, access);
  const auto rows = client.rows(fmt::format("SELECT {} FROM findings FINAL WHERE run = {} ORDER BY seen, finding",
                                            store::kEpisodeColumns, card.id));
  if (!rows) return rows.error();
  std::string text;
  for (const store::Episode& episode : store::to_episodes(*rows)) {
    text += fmt::format("{}  {:<8}  {} from step {}, seen {}{}\n", moment(episode.began), episode.severity,
                        layout::clean(episode.finding, options.unicode), episode.first_step, moment(episode.seen),
                        episode.gone > 0 ? ", gone " + moment(episode.gone) : "");
  }
  return text;
}

}  // namespace osler
