// Each figure from a few whole columns: the lists of runs, of newest verdicts and of findings.
#include "osler/store/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "osler/diagnosis/report.h"
#include "store/client.h"
#include "store/clock.h"
#include "store/fields.h"
#include "store/history.h"

namespace osler {
namespace {

/// The newest of what is said of a run.
struct Verdict {
  std::string status;
  std::string headline;
  std::string cause;
  double probability = 0;
};

constexpr double kHour = 3600;

Result<std::unordered_map<StoredRunId, Verdict>> verdicts(store::Client& client) {
  // 18.16 cannot put the rows of several shards in order without the version that FINAL goes by.
  const auto rows = client.rows(
      "SELECT run, status, headline, cause, probability, since, changed FROM reports FINAL ORDER BY run, since");
  if (!rows) return rows.error();
  std::unordered_map<StoredRunId, Verdict> newest;
  for (const auto& row : *rows) {
    newest[store::to_u64(row.at(0))] = {row.at(1), row.at(2), row.at(3), store::to_f64(row.at(4))};
  }
  return newest;
}

using Episodes = std::unordered_map<StoredRunId, std::vector<store::Episode>>;

Result<Episodes> open_episodes(store::Client& client) {
  const auto rows =
      client.rows(fmt::format("SELECT {} FROM findings FINAL WHERE gone = 0 AND severity != 'note' ORDER BY run, seen",
                              store::kEpisodeColumns));
  if (!rows) return rows.error();
  Episodes episodes;
  for (store::Episode& episode : store::to_episodes(*rows)) episodes[episode.run].push_back(std::move(episode));
  return episodes;
}

double end_of(const RunCard& card) {
  return std::isfinite(card.last_time) ? card.last_time : static_cast<double>(card.changed) / 1000;
}

/// Of the worst findings the first.
SickRun sick_run(const RunCard& card, const Verdict& verdict, const std::vector<store::Episode>& episodes) {
  SickRun sick;
  sick.card = card;
  sick.critical = verdict.status == to_string(Status::critical);
  sick.headline = verdict.headline;
  sick.cause = verdict.cause;
  sick.probability = verdict.probability;
  for (const store::Episode& episode : episodes) {
    sick.findings.push_back(episode.finding);
    if (sick.critical && episode.severity != to_string(Severity::critical)) continue;
    const double began = std::isfinite(episode.began) ? episode.began : episode.seen;
    if (!(sick.began <= began)) sick.began = began;
    if (sick.seen == 0 || episode.seen < sick.seen) sick.seen = episode.seen;
  }
  if (std::isfinite(sick.began)) sick.hours = std::max(0.0, end_of(card) - sick.began) / kHour;
  return sick;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void count(Fleet& fleet, const std::string& status) {
  if (status == to_string(Status::healthy)) ++fleet.healthy;
  if (status == to_string(Status::warning)) ++fleet.warning;
  if (status == to_string(Status::critical)) ++fleet.critical;
  if (status == to_string(Status::insufficient_data)) ++fleet.insufficient;
}

}  // namespace

Result<Fleet> look_at_fleet(const StoreAddress& address, const StoreAccess& access, bool all_projects,
                            double running_seconds) {
  Store store(address, access);
  if (const auto fits = store.check(); !fits) return fits.error();
  store::Client client(address, access);
  Fleet fleet;
  fleet.project = all_projects ? "" : address.project;
  const auto cards = store.runs({fleet.project, {}, false});
  if (!cards) return cards.error();
  const auto newest = verdicts(client);
  if (!newest) return newest.error();
  const auto open = open_episodes(client);
  if (!open) return open.error();
  std::map<std::string, std::size_t> causes;
  std::vector<double> notices;
  for (const RunCard& card : *cards) {
    const bool running = store::now_seconds() - end_of(card) < running_seconds;
    fleet.running += running ? 1 : 0;
    if (std::isfinite(card.began)) fleet.hours += std::max(0.0, end_of(card) - card.began) / kHour;
    const auto verdict = newest->find(card.id);
    if (verdict == newest->end()) {
      ++fleet.unexamined;
      continue;
    }
    count(fleet, verdict->second.status);
    const auto episodes = open->find(card.id);
    if (episodes == open->end()) continue;
    SickRun sick = sick_run(card, verdict->second, episodes->second);
    sick.running = running;
    if (sick.critical) fleet.hours_after_illness += sick.hours;
    if (!sick.cause.empty()) ++causes[sick.cause];
    for (const store::Episode& episode : episodes->second) {
      if (std::isfinite(episode.began)) notices.push_back(std::max(0.0, episode.seen - episode.began));
    }
    fleet.sick.push_back(std::move(sick));
  }
  fleet.notice_seconds = median(std::move(notices));
  for (const auto& [cause, runs] : causes) fleet.causes.push_back({cause, runs});
  std::stable_sort(fleet.causes.begin(), fleet.causes.end(),
                   [](const CauseCount& a, const CauseCount& b) { return a.runs > b.runs; });
  std::stable_sort(fleet.sick.begin(), fleet.sick.end(), [](const SickRun& a, const SickRun& b) {
    return std::tuple(!a.running, !a.critical, -a.hours) < std::tuple(!b.running, !b.critical, -b.hours);
  });
  return fleet;
}

}  // namespace osler
