// HtmlReport: the diagnosis of one or several runs as one HTML file with the dashboard's own charts.
#include "osler/dashboard/html_report.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "dashboard/card.h"
#include "dashboard/catalogue_json.h"
#include "dashboard/json.h"
#include "dashboard/pages.h"
#include "dashboard/run_json.h"
#include "dashboard/window.h"
#include "osler/base/version.h"
#include "osler/report/render.h"
#include "osler/run/role.h"

namespace osler {
namespace {

using dashboard::Json;

constexpr std::size_t kColumns = 1200;     // of a series that the report speaks of
constexpr std::size_t kFewColumns = 200;   // of any other
constexpr std::size_t kMostListed = 2000;  // series
constexpr std::size_t kRidges = 12;

/// The series that the report speaks of, then the others, each once.
std::vector<const Series*> in_order(const Run& run, const Report& report, std::size_t& spoken_of) {
  std::vector<const Series*> order;
  std::set<const Series*> seen;
  const auto take = [&](const Series* series) {
    if (series != nullptr && !series->summary().empty() && seen.insert(series).second) order.push_back(series);
  };
  for (const Observation& finding : report.findings) {
    for (const Evidence& evidence : finding.evidence) take(run.find(evidence.series));
  }
  constexpr std::size_t kOfOneRole = 8;
  for (const auto& [role, names] : report.roles) {
    for (std::size_t i = 0; i < std::min(names.size(), kOfOneRole); ++i) take(run.find(names[i]));
  }
  spoken_of = order.size();
  for (const Series& series : run.all_series()) take(&series);
  return order;
}

/// The columns of as many series as fit into `most_bytes`, by name.
std::string series_json(const Run& run, const Report& report, std::size_t most_bytes) {
  std::size_t spoken_of = 0;
  const std::vector<const Series*> order = in_order(run, report, spoken_of);
  constexpr std::size_t kBytesOfColumn = 50;
  const std::size_t fair = most_bytes / (kBytesOfColumn * std::max<std::size_t>(spoken_of, 1));
  std::string text = "{";
  for (std::size_t i = 0; i < order.size(); ++i) {
    WindowRequest request;
    request.most_spans = i < spoken_of ? std::clamp<std::size_t>(fair, 60, kColumns) : kFewColumns;
    const auto spans = dashboard::window_of(order[i]->summary(), request);
    std::string entry = dashboard::written(order[i]->name()) + ":" + dashboard::columns_json(order[i]->name(), spans);
    if (text.size() + entry.size() > most_bytes) {
      if (i < spoken_of) continue;
      break;
    }
    if (text.size() > 1) text += ',';
    text += entry;
  }
  return text + "}";
}

std::string ridges_json(const Run& run, const Report& report, std::size_t most_bytes) {
  std::string text = "{";
  std::size_t taken = 0;
  for (const auto& [id, histograms] : run.histograms()) {
    if (taken >= kRidges || id >= run.all_series().size()) break;
    const std::string& name = run.all_series()[id].name();
    const auto ridge = dashboard::ridge_json(run, report, name);
    if (!ridge || text.size() + ridge->size() > most_bytes) continue;
    text += (taken++ > 0 ? "," : "") + dashboard::written(name) + ":" + *ridge;
  }
  return text + "}";
}

/// JSON that may stand in a script element of any page: whatever would end the element is written as an escape.
std::string harmless(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

bool has_dashboard() {
  return !dashboard::pages().empty();
}

HtmlReport::HtmlReport(std::size_t runs, std::size_t most_bytes)
    : most_bytes_(most_bytes), share_(most_bytes / std::max<std::size_t>(runs, 1)) {}

void HtmlReport::add(const Run& run, const Report& report) {
  constexpr std::size_t kLeast = 40'000;  // below this a run's charts say nothing
  const std::size_t share = std::max(share_, kLeast);
  Kept kept;
  kept.id = std::to_string(runs_.size() + 1);
  kept.status = report.status;
  kept.card = dashboard::examined_card(kept.id, report.run_name, 0, run, report).json;
  kept.detail = "{\"run\":" + dashboard::run_json(kept.id, run, report, kMostListed) +
                ",\"report\":" + render_json_line(report) + ",\"heat\":" + dashboard::heat_json(run, report) +
                ",\"ridges\":" + ridges_json(run, report, share / 8) +
                ",\"series\":" + series_json(run, report, share / 2) + "}";
  for (const Observation& finding : report.findings) pages_.insert(finding.finding);
  for (const WeighedCause& cause : report.causes) pages_.insert(cause.cause);
  bytes_ += kept.card.size() + kept.detail.size();
  runs_.push_back(std::move(kept));
  make_room();
}

/// Drops details from the mildest run on, the newest of equals first.
void HtmlReport::make_room() {
  const auto mildness = [](const Kept& kept) {
    switch (kept.status) {
      case Status::critical:
        return 0;
      case Status::warning:
        return 1;
      case Status::insufficient_data:
        return 2;
      case Status::healthy:
        break;
    }
    return 3;
  };
  while (bytes_ > most_bytes_) {
    Kept* mildest = nullptr;
    std::size_t detailed = 0;
    for (Kept& kept : runs_) {
      if (kept.detail.empty()) continue;
      ++detailed;
      if (mildest == nullptr || mildness(kept) >= mildness(*mildest)) mildest = &kept;
    }
    if (detailed <= 1) return;
    bytes_ -= mildest->detail.size();
    mildest->detail = {};
  }
}

Result<std::string> HtmlReport::text() const {
  const dashboard::ReportPage page = dashboard::report_page();
  if (page.head.empty()) {
    return Error{
        ErrorCode::unsupported,
        "this program was built without its web pages (Node and npm were not there); osler report writes a PDF",
        "HTML report"};
  }
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  std::string data =
      "{\"version\":" + dashboard::written(version()) + ",\"made\":" + std::to_string(now.count()) + ",\"runs\":[";
  for (std::size_t i = 0; i < runs_.size(); ++i) data += (i > 0 ? "," : "") + runs_[i].card;
  data += "],\"details\":{";
  bool first = true;
  for (const Kept& kept : runs_) {
    if (kept.detail.empty()) continue;
    data += (first ? "\"" : ",\"") + kept.id + "\":" + kept.detail;
    first = false;
  }
  data += "},\"catalogue\":" + dashboard::catalogue_json(pages_) + ",\"tree\":" + dashboard::tree_json() + "}";
  return std::string(page.head) + harmless(data) + std::string(page.tail);
}

}  // namespace osler
