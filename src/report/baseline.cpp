// Baselines: written, read, and shown.
#include "osler/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/numbers.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "osler-baseline/1";

Error damaged(std::string what, const std::string& name) {
  return {ErrorCode::corrupt, "this is no baseline: " + std::move(what), name};
}

/// What is wrong with a row; empty when nothing is.
std::string complaint(const ReferenceRow& row) {
  if (row.quantiles.size() != reference_levels().size()) return "a row has another number of quantiles";
  if (!std::all_of(row.quantiles.begin(), row.quantiles.end(), [](double value) { return std::isfinite(value); })) {
    return "a quantile is not finite";
  }
  if (!std::is_sorted(row.quantiles.begin(), row.quantiles.end())) return "the quantiles of a row fall";
  return "";
}

/// The quantile of a row at one of the levels.
double at(const ReferenceRow& row, double level) {
  const std::span<const double> levels = reference_levels();
  const auto place = std::find(levels.begin(), levels.end(), level);
  return row.quantiles[static_cast<std::size_t>(place - levels.begin())];
}

}  // namespace

std::string render_baseline(const ReferenceRanges& ranges) {
  const std::span<const double> levels = reference_levels();
  Json rows = Json::array();
  for (const ReferenceRow& row : ranges.rows) {
    rows.push_back(
        {{"measure", row.measure}, {"among", row.stratum}, {"runs", row.runs}, {"quantiles", Json(row.quantiles)}});
  }
  const Json json = {{"schema", kSchema},
                     {"name", ranges.name},
                     {"runs", ranges.runs},
                     {"levels", Json(std::vector<double>(levels.begin(), levels.end()))},
                     {"rows", std::move(rows)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ReferenceRanges> parse_baseline(std::string_view text, const std::string& name) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (!json.is_object() || json.value("schema", "") != kSchema) {
      return damaged(fmt::format("it does not say \"schema\": \"{}\"", kSchema), name);
    }
    ReferenceRanges ranges;
    ranges.name = json.at("name").get<std::string>();
    ranges.runs = json.at("runs").get<std::size_t>();
    for (const nlohmann::json& each : json.at("rows")) {
      ReferenceRow row = {each.at("measure").get<std::string>(), each.at("among").get<std::string>(),
                          each.at("runs").get<std::size_t>(), each.at("quantiles").get<std::vector<double>>()};
      if (std::string wrong = complaint(row); !wrong.empty()) return damaged(std::move(wrong), name);
      ranges.rows.push_back(std::move(row));
    }
    return ranges;
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what(), name);
  }
}

std::string render_ranges(const ReferenceRanges& ranges) {
  constexpr double kLow = 0.05;
  constexpr double kMiddle = 0.5;
  constexpr double kHigh = 0.95;
  std::string text = fmt::format("{}: {}\n", ranges.name.empty() ? "Healthy runs that Osler comes with" : ranges.name,
                                 layout::counted(ranges.runs, "run"));
  std::string measure;
  for (const ReferenceRow& row : ranges.rows) {
    if (row.measure != measure) {
      measure = row.measure;
      const MeasureKind* kind = find_measure(measure);
      text += fmt::format("\n{}  {}\n", measure, kind == nullptr ? "" : kind->sentence);
    }
    text += fmt::format("  {:<58} {:>10} to {:<10} median {:<10} {}\n", row.stratum,
                        layout::short_number(at(row, kLow)), layout::short_number(at(row, kHigh)),
                        layout::short_number(at(row, kMiddle)), layout::counted(row.runs, "run"));
  }
  return text;
}

}  // namespace osler
