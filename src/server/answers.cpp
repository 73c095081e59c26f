// What the API answers about runs: a stretch of a series, layers by time, distributions, a comparison.
#include "server/answers.h"

#include "osler/diagnosis/compare.h"
#include "osler/report/comparison.h"

namespace osler::server {
namespace {

Result<Text> given(Result<std::string> text) {
  if (!text) return text.error();
  return shared(std::move(*text));
}

}  // namespace

Text shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

Result<Text> series_json(Shelf& shelf, std::string_view id, const SeriesChoice& series, const WindowRequest& request) {
  const auto window = shelf.window(id, series, request);
  if (!window) return window.error();
  return shared(dashboard::columns_json(window->name, window->spans));
}

Result<Text> heat_json(Shelf& shelf, std::string_view id, const dashboard::StepWindow& window) {
  if (!window.from && !window.to) return shelf.answer(id, Shelf::Answer::heat);
  std::string text;
  const auto seen = shelf.with_run(
      id, [&](const Run& run, const Report& report) { text = dashboard::heat_json(run, report, window); });
  if (!seen) return seen.error();
  return shared(std::move(text));
}

Result<Text> ridge_json(Shelf& shelf, std::string_view id, const std::string& series,
                        const dashboard::StepWindow& window) {
  Result<std::string> answer = Error{ErrorCode::not_found, "no such run", std::string(id)};
  const auto seen = shelf.with_run(
      id, [&](const Run& run, const Report& report) { answer = dashboard::ridge_json(run, report, series, window); });
  if (!seen) return seen.error();
  return given(std::move(answer));
}

Result<Text> comparison_json(Shelf& shelf, std::string_view a, std::string_view b, std::string_view axis) {
  CompareOptions options;
  const auto known = axis_from(axis);
  if (!known) return Error{ErrorCode::invalid_argument, "axis must be auto, step, epoch or tokens", "compare"};
  options.axis = *known;
  options.diagnosis = shelf.diagnosis();
  Result<std::string> answer = Error{ErrorCode::not_found, "no such run", std::string(b)};
  options.still_grows = shelf.grows(b);
  const auto seen = shelf.with_runs(a, b, [&](const Run& first, const Run& second) {
    const auto comparison = compare(first, second, options);
    if (comparison) {
      answer = render_json(*comparison);
    } else {
      answer = comparison.error();
    }
  });
  if (!seen) return seen.error();
  return given(std::move(answer));
}

}  // namespace osler::server
