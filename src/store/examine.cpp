// Leases go by the server's clock, so that the clocks of the workers need not agree.
#include "osler/store/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "dashboard/card.h"
#include "dashboard/run_json.h"
#include "osler/report/render.h"
#include "store/client.h"
#include "store/clock.h"
#include "store/fields.h"
#include "store/history.h"
#include "store/identity.h"
#include "store/tables.h"

namespace osler {
namespace {

/// A lease that has not run out.
struct Lease {
  std::string worker;
  std::uint64_t until = 0;
};
using Leases = std::unordered_multimap<StoredRunId, Lease>;

}  // namespace

class Examiner::Work {
 public:
  Work(const StoreAddress& address, const StoreAccess& access, ExamineOptions options)
      : options_(std::move(options)), client_(address, access), store_(address, access) {}

  Result<std::size_t> round(const std::function<void(const ExaminedRun&)>& hear) {
    auto due = runs_to_examine();
    if (!due) return due.error();
    auto mine = take(std::move(*due));
    if (!mine) return mine.error();
    std::size_t examined = 0;
    for (const RunCard& card : *mine) {
      if (options_.stop.stop_requested()) break;
      // What this takes must not run out while those before it were examined.
      if (const auto held = write_leases({card}, seconds_from_now()); !held) return held.error();
      auto done = examine(card);
      if (!done) return done.error();
      if (const auto released = write_leases({card}, 0); !released) return released.error();
      hear(*done);
      ++examined;
    }
    return examined;
  }

 private:
  Result<void> learn_time() {
    const auto rows = client_.rows("SELECT toUInt64(now())");
    if (!rows) return rows.error();
    if (rows->empty()) return Error{ErrorCode::io, "the store does not tell the time", to_string(client_.address())};
    server_ahead_ = static_cast<double>(store::to_u64(rows->front().at(0))) - store::now_seconds();
    return {};
  }
  [[nodiscard]] std::uint64_t seconds_from_now() const {
    return static_cast<std::uint64_t>(store::now_seconds() + server_ahead_) +
           static_cast<std::uint64_t>(options_.lease_seconds);
  }

  /// Leases of others that have not run out, and our own.
  Result<Leases> leases() {
    const auto rows = client_.rows("SELECT run, worker, until FROM leases FINAL WHERE until > toUInt64(now())");
    if (!rows) return rows.error();
    Leases leases;
    for (const auto& row : *rows) leases.insert({store::to_u64(row.at(0)), {row.at(1), store::to_u64(row.at(2))}});
    return leases;
  }

  Result<std::vector<RunCard>> runs_to_examine() {
    if (const auto told = learn_time(); !told) return told.error();
    auto cards = store_.runs({options_.all_projects ? "" : client_.address().project, {}, false});
    if (!cards) return cards.error();
    const auto rows = client_.rows("SELECT run, max(changed) FROM reports GROUP BY run");
    if (!rows) return rows.error();
    std::unordered_map<StoredRunId, std::uint64_t> examined;
    for (const auto& row : *rows) examined[store::to_u64(row.at(0))] = store::to_u64(row.at(1));
    const auto held = leases();
    if (!held) return held.error();
    std::erase_if(*cards, [&](const RunCard& card) {
      const auto [first, last] = held->equal_range(card.id);
      const bool with_another =
          std::any_of(first, last, [&](const auto& lease) { return lease.second.worker != options_.worker; });
      return with_another || examined[card.id] >= card.changed;
    });
    // Each worker begins somewhere else, so that they seldom want the same run.
    const auto place = [&](const RunCard& card) { return store::identity({options_.worker, to_text(card.id)}); };
    std::sort(cards->begin(), cards->end(), [&](const RunCard& a, const RunCard& b) { return place(a) < place(b); });
    cards->resize(std::min(cards->size(), options_.runs_at_once));
    return cards;
  }

  Result<void> write_leases(const std::vector<RunCard>& cards, std::uint64_t until) {
    store::Block rows = store::block_for("leases");
    last_written_ = std::max(last_written_ + 1, store::now_milliseconds());
    for (const RunCard& card : cards) rows.u64(card.id).text(options_.worker).u64(until).u64(last_written_);
    return insert("leases", rows);
  }

  /// Those of the runs that nobody took before.
  Result<std::vector<RunCard>> take(std::vector<RunCard> wanted) {
    if (wanted.empty()) return wanted;
    if (const auto claimed = write_leases(wanted, seconds_from_now()); !claimed) return claimed.error();
    const auto held = leases();
    if (!held) return held.error();
    std::erase_if(wanted, [&](const RunCard& card) {
      const auto [first, last] = held->equal_range(card.id);
      const auto own =
          std::find_if(first, last, [&](const auto& lease) { return lease.second.worker == options_.worker; });
      const std::uint64_t until = own == last ? 0 : own->second.until;
      return std::any_of(first, last, [&](const auto& lease) {
        return std::pair(lease.second.until, lease.second.worker) < std::pair(until, options_.worker);
      });
    });
    return wanted;
  }

  Result<ExaminedRun> examine(const RunCard& card) {
    ExaminedRun examined{card, {}, {}};
    const auto run = store_.read(card);
    if (!run) return run.error();
    auto report = diagnose(*run, options_.diagnosis);
    if (!report) return report.error();
    examined.report = std::move(*report);
    if (const auto kept = keep(*run, examined); !kept) return kept.error();
    return examined;
  }

  /// Stores the report, in place of the last one when the verdict is the same, and what it changes in the history.
  Result<void> keep(const Run& run, ExaminedRun& examined) {
    const StoredRunId id = examined.card.id;
    const auto known = client_.rows(
        fmt::format("SELECT {} FROM findings FINAL WHERE run = {} ORDER BY seen", store::kEpisodeColumns, id));
    if (!known) return known.error();
    const auto last = client_.rows(
        fmt::format("SELECT since, status FROM reports FINAL WHERE run = {} ORDER BY since DESC LIMIT 1", id));
    if (!last) return last.error();
    const double now = store::now_seconds();
    store::HistoryChange change = store::change_of_history(id, store::to_episodes(*known), run, examined.report, now);
    if (auto written = write_findings(change, now); !written) return written.error();
    examined.fresh = std::move(change.fresh);

    const Report& report = examined.report;
    const std::string status(to_string(report.status));
    const bool same = change.same && !last->empty() && last->front().at(1) == status;
    const std::uint64_t since = same ? store::to_u64(last->front().at(0)) : examined.card.changed;
    store::Block row = store::block_for("reports");
    row.u64(id).u64(since).u64(examined.card.changed).f64(now).text(status).text(report.headline);
    row.text(report.causes.empty() ? "" : report.causes.front().cause);
    row.f64(report.causes.empty() ? 0 : report.causes.front().probability);
    row.text(options_.worker).text(render_json_line(report));
    // Before the report: who sees that the run is examined may show it.
    if (auto written = write_page(run, examined); !written) return written;
    return insert("reports", row);
  }

  /// What a dashboard shows, so that it need not read the run.
  Result<void> write_page(const Run& run, const ExaminedRun& examined) {
    const std::string id = to_text(examined.card.id);
    const auto modified = static_cast<double>(examined.card.changed) / 1000;
    const auto card = dashboard::examined_card(id, examined.card.name, modified, run, examined.report);
    store::Block row = store::block_for("pages");
    row.u64(examined.card.id).u64(examined.card.changed).f64(card.gradient_norm).text(card.json).text(card.row);
    row.text(dashboard::run_json(id, run, examined.report)).text(dashboard::heat_json(run, examined.report));
    return insert("pages", row);
  }

  Result<void> write_findings(const store::HistoryChange& change, double now) {
    store::Block rows = store::block_for("findings");
    const auto changed = static_cast<std::uint64_t>(now * 1000);
    for (const store::Episode& episode : change.rows) {
      rows.u64(episode.run)
          .text(episode.finding)
          .u32(episode.number)
          .f64(episode.seen)
          .text(episode.severity)
          .f64(episode.confidence);
      rows.i64(episode.first_step).f64(episode.began).text(episode.summary).f64(episode.gone).u64(changed);
    }
    return rows.rows() == 0 ? Result<void>{} : insert("findings", rows);
  }

  Result<void> insert(std::string_view table, const store::Block& rows) {
    const auto insert = store::to_insert(table, rows);
    if (!insert) return insert.error();
    return client_.insert(*insert);
  }

  ExamineOptions options_;
  store::Client client_;
  Store store_;
  double server_ahead_ = 0;  // seconds
  std::uint64_t last_written_ = 0;
};

Examiner::Examiner(const StoreAddress& address, const StoreAccess& access, ExamineOptions options)
    : work_(std::make_unique<Work>(address, access, std::move(options))) {}
Examiner::~Examiner() = default;

Result<std::size_t> Examiner::round(const std::function<void(const ExaminedRun&)>& hear) {
  return work_->round(hear);
}

}  // namespace osler
