// A search asks first whether anything changed, and then only for the pages that did.
#include "server/store_shelf.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/wall_clock.h"
#include "dashboard/json.h"
#include "dashboard/run_json.h"
#include "dashboard/window.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/report/render.h"

namespace osler::server {
namespace {

constexpr std::size_t kCardsAtOnce = 2000;

dashboard::Card card_of(const RunCard& run, const StoredCard& examined) {
  const std::string id = to_text(run.id);
  const double modified = static_cast<double>(run.changed) / 1000;
  auto json = dashboard::Json::parse(examined.card, nullptr, false);
  dashboard::Card card = dashboard::unexamined_card(id, run.name, run.format, modified);
  if (json.is_object()) {
    // What is said of a run since it was examined counts.
    json["name"] = run.name;
    json["modified"] = modified;
    card.status = json.value("status", card.status);
    card.gradient_norm = examined.gradient_norm;
    if (json.contains("loss") && json["loss"].is_number()) card.loss = json["loss"].get<double>();
    if (json.contains("steps")) card.last_step = json["steps"].value("last", std::int64_t{0});
    if (json.contains("findings")) {
      for (const Severity severity : {Severity::note, Severity::warning, Severity::critical}) {
        card.findings[static_cast<std::size_t>(severity)] =
            json["findings"].value(std::string(to_string(severity)), std::uint64_t{0});
      }
    }
    card.json = dashboard::written(json);
    card.row = examined.figures;
  }
  return run.archived ? dashboard::archived_card(std::move(card)) : card;
}

Error no_such_run(std::string_view id) {
  return {ErrorCode::not_found, "no such run", std::string(id)};
}

}  // namespace

StoreShelf::StoreShelf(StoreAddress address, StoreAccess access, DiagnosisOptions diagnosis)
    : address_(std::move(address)), access_(std::move(access)), diagnosis_(std::move(diagnosis)) {}

/// The pages that were made since they were read.
Result<std::map<StoredRunId, StoredCard>> StoreShelf::new_cards(Store& store) const {
  const auto examined = store.examined();
  if (!examined) return examined.error();
  std::vector<StoredRunId> wanted;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [run, changed] : *examined) {
      const auto known = shown_.find(to_text(run));
      if (known == shown_.end() || known->second.examined.changed < changed) wanted.push_back(run);
    }
  }
  std::map<StoredRunId, StoredCard> cards;
  for (std::size_t from = 0; from < wanted.size(); from += kCardsAtOnce) {
    const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = wanted.begin() + static_cast<std::ptrdiff_t>(std::min(wanted.size(), from + kCardsAtOnce));
    auto some = store.stored_cards({first, last});
    if (!some) return some.error();
    for (StoredCard& card : *some) cards[card.id] = std::move(card);
  }
  return cards;
}

void StoreShelf::search(const std::stop_token& stop) {
  Store store = this->store();
  const auto state = store.state();
  if (!state || *state == state_) return;
  const auto runs = store.runs({address_.project, {}, true});
  if (!runs) return;
  auto fresh = new_cards(store);
  if (!fresh || stop.stop_requested()) return;
  const std::lock_guard lock(mutex_);
  std::map<std::string, Shown, std::less<>> now;
  for (const RunCard& run : *runs) {
    const std::string id = to_text(run.id);
    Shown shown{run, {}, {}};
    const auto before = shown_.find(id);
    if (before != shown_.end()) shown.examined = std::move(before->second.examined);
    if (const auto page = fresh->find(run.id); page != fresh->end()) shown.examined = std::move(page->second);
    shown.card = card_of(run, shown.examined);
    const bool same = before != shown_.end() && before->second.card.json == shown.card.json;
    shown.card.revision = same ? before->second.card.revision : ++revision_;
    now.emplace(id, std::move(shown));
  }
  const bool gone =
      std::any_of(shown_.begin(), shown_.end(), [&](const auto& one) { return !now.contains(one.first); });
  if (gone || !searched_) anew_revision_ = ++revision_;
  shown_ = std::move(now);
  searched_ = true;
  state_ = *state;
  changed_.notify_all();
}

void StoreShelf::examine_changed(const std::stop_token& /*stop*/) {}

void StoreShelf::wake() {
  const std::lock_guard lock(mutex_);
  awake_ = true;
  changed_.notify_all();
}

Text StoreShelf::runs_json() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "{\"revision\":" + std::to_string(revision_) + ",\"searched\":" + (searched_ ? "true" : "false") + ",\"runs\":[";
  for (const auto& [id, shown] : shown_) {
    if (text.back() != '[') text += ',';
    text += shown.card.json;
  }
  return std::make_shared<const std::string>(std::move(text) + "],\"left_out\":{\"count\":0,\"files\":[]}}");
}

std::string StoreShelf::table_json() const {
  const std::lock_guard lock(mutex_);
  std::string text = "{\"runs\":{";
  for (const auto& [id, shown] : shown_) {
    if (shown.card.row.empty()) continue;
    if (text.back() != '{') text += ',';
    text += '"' + id + "\":" + shown.card.row;
  }
  return text + "}}";
}

std::vector<dashboard::Card> StoreShelf::cards() const {
  const std::lock_guard lock(mutex_);
  std::vector<dashboard::Card> all;
  for (const auto& [id, shown] : shown_) all.push_back(shown.card);
  return all;
}

std::uint64_t StoreShelf::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

Changes StoreShelf::changes_since(std::uint64_t since, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return awake_ || revision_ > since; });
  Changes changes{.revision = revision_, .cards = {}, .list_anew = anew_revision_ > since};
  for (const auto& [id, shown] : shown_) {
    if (shown.card.revision > since) changes.cards.push_back(shown.card.json);
  }
  return changes;
}

Result<RunCard> StoreShelf::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = shown_.find(id);
  if (found == shown_.end()) return no_such_run(id);
  return found->second.run;
}

Result<Run> StoreShelf::read(std::string_view id) const {
  const auto card = find(id);
  if (!card) return card.error();
  return store().read(*card);
}

Result<void> StoreShelf::with_run(std::string_view id, const std::function<void(const Run&, const Report&)>& look) {
  const auto run = read(id);
  if (!run) return run.error();
  const auto report = diagnose(*run, diagnosis_);
  if (!report) return report.error();
  look(*run, *report);
  return {};
}

Result<void> StoreShelf::with_runs(std::string_view a, std::string_view b,
                                   const std::function<void(const Run&, const Run&)>& look) {
  if (a == b) return Error{ErrorCode::invalid_argument, "these are one and the same run", std::string(a)};
  const auto first = read(a);
  if (!first) return first.error();
  const auto second = read(b);
  if (!second) return second.error();
  look(*first, *second);
  return {};
}

bool StoreShelf::grows(std::string_view id) {
  constexpr double kStill = 600;
  const auto card = find(id);
  return card && wall_seconds() - static_cast<double>(card->changed) / 1000 < kStill;
}

Result<Text> StoreShelf::answer(std::string_view id, Answer which) {
  const auto card = find(id);
  if (!card) return card.error();
  const StoredPage page = which == Answer::run      ? StoredPage::run
                          : which == Answer::report ? StoredPage::report
                                                    : StoredPage::layers;
  auto stored = store().page(card->id, page);
  if (!stored) return stored.error();
  if (!stored->empty()) return std::make_shared<const std::string>(std::move(*stored));
  // Nobody has examined it yet.
  Text text;
  const auto seen = with_run(id, [&](const Run& run, const Report& report) {
    text = std::make_shared<const std::string>(which == Answer::run      ? dashboard::run_json(id, run, report)
                                               : which == Answer::report ? render_json_line(report)
                                                                         : dashboard::heat_json(run, report));
  });
  if (!seen) return seen.error();
  return text;
}

Result<SeriesWindow> StoreShelf::window(std::string_view id, const SeriesChoice& series, const WindowRequest& request) {
  const auto card = find(id);
  if (!card) return card.error();
  if (!series.number) {
    auto spans = store().window(card->id, series.name, request);
    if (!spans) return spans.error();
    if (spans->empty()) return Error{ErrorCode::not_found, "no such series, or nothing there", series.name};
    return SeriesWindow{series.name, std::move(*spans)};
  }
  std::optional<SeriesWindow> window;
  const auto seen = with_run(id, [&](const Run& run, const Report&) {
    if (*series.number >= run.all_series().size()) return;
    const Series& found = run.all_series()[*series.number];
    window = SeriesWindow{found.name(), dashboard::window_of(found.summary(), request)};
  });
  if (!seen) return seen.error();
  if (!window) return Error{ErrorCode::not_found, "no such series", series.name};
  return std::move(*window);
}

}  // namespace osler::server
