// The page of the gallery: sums, exceptions, a table, and a section with a figure for each patient.
#include "cli/gallery/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <span>

#include "cli/gallery/sums.h"
#include "osler/figures/figure.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

namespace fs = std::filesystem;
using gallery::Patient;
using gallery::TrainingResult;

/// The visits of one patient, a seed each.
using Ward = std::span<const Made>;

std::vector<Ward> wards_of(const std::vector<Made>& all) {
  std::vector<Ward> wards;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end =
        std::find_if(begin, all.end(), [&](const Made& made) { return made.patient->id != begin->patient->id; });
    wards.emplace_back(begin, end);
    begin = end;
  }
  return wards;
}

template <typename So>
Share share_of(Ward ward, So so) {
  Share share;
  for (const Made& made : ward) share.add(so(made.visit));
  return share;
}

std::string written(const Share& share) {
  return fmt::format("{} of {}", share.yes, share.all);
}

std::string in_percent(const Share& share) {
  if (share.all == 0) return "none was tried";
  return fmt::format("{} of {} ({})", share.yes, share.all,
                     layout::percent(static_cast<double>(share.yes) / static_cast<double>(share.all)));
}

void add_curves(std::string_view who, const Report& report, figure::Chart& chart) {
  for (const auto& [role, name] : {std::pair("train-loss", "training"), std::pair("validation-loss", "validation")}) {
    const auto sketch = std::find_if(report.sketches.begin(), report.sketches.end(),
                                     [role = role](const Sketch& each) { return each.role == role; });
    if (sketch == report.sketches.end()) continue;
    figure::Chart::Curve curve;
    curve.name = fmt::format("{}, {}", who, name);
    for (const Sketch::Column& column : sketch->columns) {
      if (!std::isfinite(column.mean)) continue;
      curve.x.push_back(static_cast<double>(column.step));
      curve.y.push_back(column.mean);
    }
    if (!curve.x.empty()) chart.curves.push_back(std::move(curve));
  }
}

/// The losses before and after. A loss that ran away is cut off, so that the rest can be seen.
Figure figure_of(const Made& made) {
  figure::Chart chart;
  chart.x_label = "step";
  add_curves("sick", made.visit.sick.report, chart);
  if (made.visit.treated) add_curves("treated", made.visit.treated->report, chart);
  double start = 0;
  for (const auto& curve : chart.curves) start = std::max(start, curve.y.front());
  constexpr double kRunaway = 3;  // times the highest first loss
  chart.ceiling = start > 0 ? std::optional(kRunaway * start) : std::nullopt;
  for (const Observation& seen : made.visit.sick.report.findings) {
    if (seen.finding != made.patient->finding) continue;
    chart.signs.push_back({static_cast<double>(seen.first_step), {}, {}, seen.finding, true});
  }
  Figure figure;
  figure.title = made.patient->title;
  figure.subtitle = fmt::format("{}, seed {}", made.patient->id, made.visit.seed);
  figure.panels = {{"loss", std::move(chart), {}, 1}};
  return figure;
}

Result<void> write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (!file) return Error{ErrorCode::io, "cannot be written", path.string()};
  return {};
}

std::string training_text(const TrainingResult& result) {
  std::string text = "loss " + layout::short_number(result.true_loss);
  if (result.true_accuracy) text += ", accuracy " + layout::percent(*result.true_accuracy);
  return text;
}

std::string changes_text(const Made& made) {
  std::vector<std::string> changes;
  for (const auto& change : gallery::differences(made.patient->recipe, made.visit.treated_recipe)) {
    changes.push_back(fmt::format("`{}` {} to {}", change.name, change.from, change.to));
  }
  return changes.empty() ? "nothing had to be changed" : fmt::format("{}", fmt::join(changes, ", "));
}

std::string section_of(Ward ward, const std::string& folder) {
  const Made& first = ward.front();
  const Patient& patient = *first.patient;
  std::string text =
      fmt::format("### {}\n\n**{}.** {}\n\n![losses of {} before and after the treatment]({}/{}.png)\n\n", patient.id,
                  patient.title, patient.story, patient.id, folder, patient.id);
  for (const Observation& seen : first.visit.sick.report.findings) {
    if (seen.finding == patient.finding) text += fmt::format("- Found: {} (`{}`)\n", seen.summary, seen.finding);
  }
  if (!first.visit.sick.origin.empty()) text += fmt::format("- Origin: {}\n", first.visit.sick.origin);
  const auto& causes = first.visit.sick.report.causes;
  if (patient.has_cause() && !causes.empty()) {
    text += fmt::format("- Most probable cause: `{}` ({})\n", causes[0].cause, layout::percent(causes[0].probability));
  }
  if (first.visit.treated) {
    text += fmt::format("- Treated by {}: {}\n- Before: {}. After: {}.\n",
                        first.visit.prescribed ? "the patient's own treatment" : "the report's own remedies",
                        changes_text(first), training_text(first.visit.sick), training_text(*first.visit.treated));
  }
  return text + fmt::format("\n{}\n\n", patient.lesson);
}

std::string row_of(Ward ward) {
  const Patient& patient = *ward.front().patient;
  const auto found = share_of(ward, [](const gallery::Visit& visit) { return visit.finding_seen; });
  const auto first = share_of(ward, [](const gallery::Visit& visit) { return visit.cause_rank == 0U; });
  const auto well = share_of(ward, [](const gallery::Visit& visit) { return visit.recovered; });
  const auto by_report =
      share_of(ward, [](const gallery::Visit& visit) { return visit.recovered && !visit.prescribed; });
  return fmt::format("| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} | {6} |\n", patient.id, patient.finding,
                     written(found), patient.has_cause() ? std::string(patient.cause) : "the finding itself",
                     patient.has_cause() ? written(first) : "", written(well), written(by_report));
}

std::string exceptions_in(const std::vector<Made>& all) {
  std::string text;
  for (const Made& made : all) {
    const std::string why = shortfall(made);
    if (!why.empty()) text += fmt::format("- {}, seed {}: {}\n", made.patient->id, made.visit.seed, why);
  }
  return text.empty() ? "None.\n" : text;
}

}  // namespace

Result<void> write_page(const std::vector<Made>& all, const fs::path& page, const std::string& command) {
  const std::string folder = page.stem().string();
  std::error_code problem;
  fs::create_directories(page.parent_path() / folder, problem);
  if (problem) return Error{ErrorCode::io, problem.message(), (page.parent_path() / folder).string()};
  const Sums sums = sums_of(all);
  std::string table;
  std::string controls;
  std::string sections;
  for (const Ward ward : wards_of(all)) {
    const Patient& patient = *ward.front().patient;
    if (patient.healthy()) {
      const auto clean = share_of(ward, [](const gallery::Visit& visit) { return visit.clean; });
      controls += fmt::format("| {} | {} | {} |\n", patient.id, patient.title, written(clean));
      continue;
    }
    table += row_of(ward);
    sections += section_of(ward, folder);
    auto drawn = render(figure_of(ward.front()), FigureType::png, {FigureTheme::light, 720, 300, 1.5});
    if (!drawn) return drawn.error();
    if (auto done = write_file(page.parent_path() / folder / fmt::format("{}.png", patient.id), *drawn); !done) {
      return done;
    }
  }
  return write_file(
      page,
      fmt::format("# The gallery\n\nSick networks, trained for real, diagnosed, treated and trained again. This page "
                  "is written by\n\n    {}\n\nfrom the visits that it has just made; nothing on it is written by "
                  "hand.\n\n"
                  "- Expected finding reported: {}\n- Expected cause first: {}; among the first three: {}\n"
                  "- Training restored: {}; by the report's own remedies alone: {}\n"
                  "- Healthy controls without a warning: {}\n\n"
                  "## What did not go as expected\n\n{}\n"
                  "## Patients\n\n| patient | finding | found | cause | first | restored | by the report |\n"
                  "|---|---|---|---|---|---|---|\n{}\n"
                  "## Healthy controls\n\n| control | what it is | clean |\n|---|---|---|\n{}\n"
                  "## Each patient\n\nThe figures show the losses of the first seed, before and after.\n\n{}",
                  command, in_percent(sums.found), in_percent(sums.first), in_percent(sums.among_three),
                  in_percent(sums.recovered), in_percent(sums.by_report), in_percent(sums.clean), exceptions_in(all),
                  table, controls, sections));
}

}  // namespace osler::cli
