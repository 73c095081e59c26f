// Lists, labels and removal; what a run holds is read elsewhere.
#include "osler/store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "osler/runfile/reader.h"
#include "store/client.h"
#include "store/clock.h"
#include "store/fields.h"
#include "store/labels.h"
#include "store/reading.h"
#include "store/schema.h"
#include "store/tables.h"
#include "store/window.h"

namespace osler {
namespace {

void put_labels(const store::Labels& labels, RunCard& card) {
  if (const auto name = labels.value_of(store::kNameLabel); !name.empty()) card.name = name;
  card.archived = !labels.value_of(store::kArchivedLabel).empty();
  for (const auto& [label, value] : labels.all()) {
    if (label.starts_with(store::kTagLabel) && !labels.value_of(label).empty()) {
      card.tags.push_back(label.substr(store::kTagLabel.size()));
    }
  }
}

Error not_one(std::string_view name, const std::vector<RunCard>& found) {
  if (found.empty()) {
    return {ErrorCode::not_found, "no run of the store has this name (osler store runs lists them)", std::string(name)};
  }
  constexpr std::size_t kShown = 3;
  std::string some;
  for (std::size_t i = 0; i < std::min(kShown, found.size()); ++i) {
    some += fmt::format("{}{} ({})", i > 0 ? ", " : "", to_text(found[i].id), found[i].name);
  }
  return {ErrorCode::invalid_argument, fmt::format("{} runs may be meant: {}", found.size(), some), std::string(name)};
}

}  // namespace

std::string to_text(StoredRunId run) {
  return fmt::format("{:016x}", run);
}

class Store::Work {
 public:
  Work(StoreAddress address, const StoreAccess& access) : client_(std::move(address), access) {}

  Result<std::unordered_map<StoredRunId, store::Labels>> labels() {
    const auto rows = client_.rows("SELECT run, label, value, changed FROM labels FINAL");
    if (!rows) return rows.error();
    std::unordered_map<StoredRunId, store::Labels> labels;
    for (const auto& row : *rows) {
      labels[store::to_u64(row.at(0))].put(row.at(1), {row.at(2), store::to_u64(row.at(3))});
    }
    return labels;
  }

  Result<void> label(StoredRunId run, std::string_view label, std::string_view value) {
    store::Block row = store::block_for("labels");
    row.u64(run).text(label).text(value).u64(store::now_milliseconds());
    return insert("labels", row);
  }

  Result<void> insert(std::string_view table, const store::Block& block) {
    const auto insert = store::to_insert(table, block);
    if (!insert) return insert.error();
    return client_.insert(*insert);
  }

  /// Where a table's rows lie, as ALTER wants it: the table itself, or those below a Distributed one.
  Result<std::string> place_of(std::string_view table) {
    const auto cluster = store::cluster_of(client_);
    if (!cluster) return cluster.error();
    if (cluster->empty()) return std::string(table);
    return fmt::format("{}_local ON CLUSTER {}", table, *cluster);
  }

  /// What its files told counts no more, from now on and not only when the server has deleted it.
  Result<void> void_streams(StoredRunId run) {
    const auto rows = client_.rows(fmt::format(
        "SELECT stream, path, generation, position, inode, format, changed FROM streams FINAL WHERE run = {}", run));
    if (!rows) return rows.error();
    if (rows->empty()) return {};
    store::Block block = store::block_for("streams");
    for (const auto& row : *rows) {
      block.u64(run).u64(store::to_u64(row.at(0))).text(row.at(1));
      block.u32(static_cast<std::uint32_t>(store::to_u64(row.at(2))));
      block.u32(static_cast<std::uint32_t>(store::to_u64(row.at(3))));
      block.u64(store::to_u64(row.at(4))).text(row.at(5)).u8(1);
      block.u64(std::max(store::now_milliseconds(), store::to_u64(row.at(6)) + 1));
    }
    return insert("streams", block);
  }

  Result<void> remove(StoredRunId run, std::string_view why) {
    // The row stays in lists until this is said, so that an interrupted removal can be begun again.
    if (auto done = void_streams(run); !done) return done;
    for (const char* table : {"points", "histograms", "marks", "config", "series", "progress", "streams", "reports",
                              "pages", "findings", "leases"}) {
      const auto place = place_of(table);
      if (!place) return place.error();
      const auto gone = client_.ask(fmt::format("ALTER TABLE {} DELETE WHERE run = {}", *place, run));
      if (!gone) return gone.error();
    }
    return label(run, store::kRemovedLabel, why);
  }

  store::Client client_;
};

Store::Store(StoreAddress address, const StoreAccess& access)
    : work_(std::make_unique<Work>(std::move(address), access)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Result<std::uint32_t> Store::init(const StoreSetup& setup) {
  return store::init_schema(work_->client_, setup);
}

Result<void> Store::check() {
  return store::check_schema(work_->client_);
}

Result<std::vector<RunCard>> Store::runs(const RunFilter& filter) {
  const std::string where = filter.project.empty() ? "" : " WHERE project = " + store::quoted(filter.project);
  const auto rows = work_->client_.rows(
      "SELECT run, project, name, machine, format, changed, began, last_time, points FROM runs FINAL" + where +
      " ORDER BY changed DESC, run");
  if (!rows) return rows.error();
  const auto labels = work_->labels();
  if (!labels) return labels.error();
  std::vector<RunCard> cards;
  for (const auto& row : *rows) {
    RunCard card{store::to_u64(row.at(0)),
                 row.at(1),
                 row.at(2),
                 row.at(3),
                 row.at(4),
                 store::to_u64(row.at(5)),
                 store::to_f64(row.at(6)),
                 store::to_f64(row.at(7)),
                 store::to_u64(row.at(8)),
                 {},
                 false};
    if (const auto known = labels->find(card.id); known != labels->end()) {
      if (known->second.is_removed()) continue;
      put_labels(known->second, card);
    }
    if (card.archived && !filter.archived) continue;
    if (!filter.tag.empty() && std::find(card.tags.begin(), card.tags.end(), filter.tag) == card.tags.end()) continue;
    cards.push_back(std::move(card));
  }
  return cards;
}

Result<RunCard> Store::find(std::string_view name, const std::string& project) {
  auto all = runs({project, {}, true});
  if (!all) return all.error();
  std::vector<RunCard> exact;
  std::vector<RunCard> ending;
  for (RunCard& card : *all) {
    if (to_text(card.id) == name) return std::move(card);
    if (card.name == name) {
      exact.push_back(std::move(card));
    } else if (!name.empty() && card.name.ends_with(name)) {
      ending.push_back(std::move(card));
    }
  }
  std::vector<RunCard>& found = exact.empty() ? ending : exact;
  if (found.size() != 1) return not_one(name, found);
  return std::move(found.front());
}

Result<void> Store::read_events(StoredRunId run, EventSink& sink) {
  const auto streams = store::streams_of(work_->client_, run);
  if (!streams) return streams.error();
  return store::read_streams(work_->client_, run, *streams, sink);
}

Result<Run> Store::read(const RunCard& card, const RunLimits& limits) {
  const auto streams = store::streams_of(work_->client_, card.id);
  if (!streams) return streams.error();
  Run run(limits);
  run.name = card.name;
  run.format = card.format;
  for (const store::StoredStream& stream : *streams) {
    if (!stream.is_void && std::find(run.sources.begin(), run.sources.end(), stream.path) == run.sources.end())
      run.sources.push_back(stream.path);
  }
  if (const auto read = store::read_streams(work_->client_, card.id, *streams, run); !read) return read.error();
  // As reading its files does; a run file says itself which of its parts count.
  if (card.format != kRunFileFormat) run.settle_launches();
  return run;
}

Result<std::string> Store::state() {
  const auto rows = work_->client_.rows(
      "SELECT (SELECT count() FROM runs), (SELECT max(changed) FROM runs), (SELECT count() FROM labels), (SELECT "
      "max(changed) FROM labels), (SELECT count() FROM pages), (SELECT max(changed) FROM pages)");
  if (!rows) return rows.error();
  std::string state;
  for (std::size_t column = 0; column < 6 && !rows->empty(); ++column) state += rows->front().at(column) + ' ';
  return state;
}

Result<std::map<StoredRunId, std::uint64_t>> Store::examined() {
  const auto rows = work_->client_.rows("SELECT run, max(changed) FROM pages GROUP BY run");
  if (!rows) return rows.error();
  std::map<StoredRunId, std::uint64_t> examined;
  for (const auto& row : *rows) examined[store::to_u64(row.at(0))] = store::to_u64(row.at(1));
  return examined;
}

Result<std::vector<StoredCard>> Store::stored_cards(const std::vector<StoredRunId>& runs) {
  const auto rows = work_->client_.rows(fmt::format(
      "SELECT run, changed, gradient_norm, card, figures FROM pages FINAL WHERE run IN ({})", store::listed(runs)));
  if (!rows) return rows.error();
  std::vector<StoredCard> cards;
  for (const auto& row : *rows) {
    cards.push_back(
        {store::to_u64(row.at(0)), store::to_u64(row.at(1)), store::to_f64(row.at(2)), row.at(3), row.at(4)});
  }
  return cards;
}

Result<std::string> Store::page(StoredRunId run, StoredPage which) {
  const std::string sql =
      which == StoredPage::report
          ? fmt::format("SELECT json FROM reports FINAL WHERE run = {} ORDER BY since DESC LIMIT 1", run)
          : fmt::format("SELECT {} FROM pages FINAL WHERE run = {}", which == StoredPage::run ? "page" : "layers", run);
  const auto rows = work_->client_.rows(sql);
  if (!rows) return rows.error();
  return rows->empty() ? std::string() : rows->front().at(0);
}

Result<std::vector<WindowSpan>> Store::window(StoredRunId run, const std::string& series,
                                              const WindowRequest& request) {
  return store::window_of(work_->client_, run, series, request);
}

Result<void> Store::rename(StoredRunId run, const std::string& name) {
  return work_->label(run, store::kNameLabel, name);
}

Result<void> Store::tag(StoredRunId run, const std::string& tag, bool on) {
  return work_->label(run, std::string(store::kTagLabel) + tag, on ? store::kOnValue : "");
}

Result<void> Store::archive(StoredRunId run, bool on) {
  return work_->label(run, store::kArchivedLabel, on ? store::kOnValue : "");
}

Result<void> Store::remove(StoredRunId run) {
  return work_->remove(run, store::kOnValue);
}

Result<std::optional<int>> Store::retention(const std::string& project) {
  const auto rows = work_->client_.rows("SELECT value FROM projects FINAL WHERE setting = 'keep_days' AND project = " +
                                        store::quoted(project));
  if (!rows) return rows.error();
  if (rows->empty() || rows->front().at(0).empty()) return std::optional<int>();
  return std::optional<int>(static_cast<int>(store::to_u64(rows->front().at(0))));
}

Result<void> Store::set_retention(const std::string& project, std::optional<int> days) {
  store::Block row = store::block_for("projects");
  row.text(project).text("keep_days").text(days ? std::to_string(*days) : "").u64(store::now_milliseconds());
  return work_->insert("projects", row);
}

Result<std::size_t> Store::prune() {
  constexpr std::uint64_t kDay = 24ULL * 60 * 60 * 1000;
  const auto cards = runs({{}, {}, true});
  if (!cards) return cards.error();
  std::map<std::string, std::optional<int>> kept;
  std::size_t removed = 0;
  for (const RunCard& card : *cards) {
    if (kept.count(card.project) == 0) {
      const auto days = retention(card.project);
      if (!days) return days.error();
      kept[card.project] = *days;
    }
    const std::optional<int> days = kept[card.project];
    if (!days || card.changed + static_cast<std::uint64_t>(*days) * kDay > store::now_milliseconds()) continue;
    if (const auto gone = work_->remove(card.id, store::kPrunedValue); !gone) return gone.error();
    ++removed;
  }
  return removed;
}

}  // namespace osler
