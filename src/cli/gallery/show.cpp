// The gallery in words.
#include "cli/gallery/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "learn/course.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "report/plot.h"

namespace osler::cli {
namespace {

using gallery::Patient;
using gallery::TrainingResult;
using layout::Ink;
using layout::Sheet;

const Sketch* loss_sketch(const Report& report) {
  const auto found = std::find_if(report.sketches.begin(), report.sketches.end(),
                                  [](const Sketch& sketch) { return sketch.role == "train-loss"; });
  return found != report.sketches.end() ? &*found : nullptr;
}

/// The number of the first lesson whose table has the patient; 0 where none has.
int lesson_of(const Patient& patient) {
  const std::string row = fmt::format("\n| {} |", patient.id);
  for (const learn::Lesson& lesson : learn::lessons()) {
    if (lesson.text.find(row) != std::string_view::npos) return lesson.number;
  }
  return 0;
}

std::string accuracy_text(const TrainingResult& result) {
  return result.true_accuracy ? fmt::format(", accuracy {}", layout::percent(*result.true_accuracy)) : "";
}

std::string warnings_of(const Report& report) {
  std::vector<std::string> ids;
  for (const Observation& seen : report.findings) {
    if (seen.severity != Severity::note) ids.push_back(seen.finding);
  }
  return ids.empty() ? "no finding" : fmt::format("{}", fmt::join(ids, ", "));
}

void write_trials(Sheet& sheet, const probes::Cure& cure) {
  sheet.blank();
  sheet.paragraph("", sheet.painted("Treatment", Ink::strong) +
                          " by the report's own remedies, in short forks from the same start");
  for (const probes::Trial& trial : cure.trials) {
    const std::string_view sign = trial.kept ? sheet.glyphs().healthy : sheet.glyphs().bullet;
    const std::string change = fmt::format("{} {} {}", trial.change.name, sheet.glyphs().arrow, trial.change.to);
    sheet.paragraph(
        "  " + sheet.painted(sign, trial.kept ? Ink::healthy : Ink::faint) + " " + layout::pad(sheet.text(change), 26),
        fmt::format("loss {} {} {}: {}", layout::short_number(trial.before), sheet.glyphs().arrow,
                    layout::short_number(trial.after), trial.kept ? trial.why : trial.why + ", not kept"));
  }
  if (cure.trials.empty()) sheet.paragraph("  ", "None of them can be applied by machine.");
}

void write_curves(Sheet& sheet, const gallery::Visit& visit) {
  const Sketch* sick = loss_sketch(visit.sick.report);
  const Sketch* treated = visit.treated ? loss_sketch(visit.treated->report) : nullptr;
  if (sick == nullptr || treated == nullptr) return;
  layout::Plot plot;
  plot.curves = {sick, treated};
  plot.rows = 6;
  for (const std::string& line : layout::draw(plot, sheet, 2)) sheet.line(line);
}

/// What the network can do in truth, which its own validation may hide.
void write_truth(Sheet& sheet, const TrainingResult& result) {
  sheet.paragraph("", sheet.painted("On clean data  ", Ink::strong) +
                          fmt::format("loss {}{}", layout::short_number(result.true_loss), accuracy_text(result)));
}

void write_before_and_after(Sheet& sheet, const gallery::Visit& visit) {
  sheet.blank();
  if (!visit.treated) return write_truth(sheet, visit.sick);
  sheet.line(sheet.painted("Before and after", Ink::strong));
  const auto line = [&](std::string_view label, const TrainingResult& result) {
    sheet.paragraph("  " + layout::pad(label, 9),
                    fmt::format("true loss {}{}; {}", layout::short_number(result.true_loss), accuracy_text(result),
                                warnings_of(result.report)));
  };
  line("sick", visit.sick);
  line("treated", *visit.treated);
  write_curves(sheet, visit);
}

void write_prescription(Sheet& sheet, const Made& made) {
  if (!made.visit.prescribed) return;
  std::vector<std::string> changes;
  for (const auto& change : gallery::differences(made.patient->recipe, made.visit.treated_recipe)) {
    changes.push_back(fmt::format("{} {} {} {}", change.name, change.from, sheet.glyphs().arrow, change.to));
  }
  sheet.paragraph("  ", "These did not suffice, so the patient's own treatment was taken: " +
                            fmt::format("{}.", fmt::join(changes, ", ")));
}

/// Whether it is held against nothing but itself: something was set, and the patient's illness is not there.
bool of_visitor(const Made& made) {
  return is_own(*made.patient) && !made.visit.finding_seen;
}

/// The right cause is among the first three, or the finding needs none.
bool explained(const Made& made) {
  return !made.patient->has_cause() || (made.visit.cause_rank && *made.visit.cause_rank <= 2);
}

std::string verdict_word(const Made& made) {
  if (of_visitor(made) && !made.visit.treated) {
    return made.visit.clean ? "Nothing is wrong with it" : "Found: " + warnings_of(made.visit.sick.report);
  }
  if (of_visitor(made)) return made.visit.recovered ? "recovered" : "not recovered";
  if (made.patient->healthy()) return made.visit.clean ? "clean" : "false alarm";
  if (!made.visit.finding_seen) return "finding missed";
  if (!explained(made)) return "cause missed";
  if (!made.visit.treated) return "diagnosed";
  return made.visit.recovered ? "recovered" : "not recovered";
}

}  // namespace

bool is_own(const Patient& patient) {
  const Patient* known = gallery::find_patient(patient.id);
  return known != nullptr && known->recipe != patient.recipe;
}

bool as_expected(const Made& made) {
  if (of_visitor(made)) return made.visit.clean || (made.visit.treated && made.visit.recovered);
  if (made.patient->healthy()) return made.visit.clean;
  const bool diagnosed = made.visit.finding_seen && explained(made);
  return diagnosed && (!made.visit.treated || made.visit.recovered);
}

std::string shortfall(const Made& made) {
  const gallery::Visit& visit = made.visit;
  if (of_visitor(made)) return "";
  if (made.patient->healthy()) return visit.clean ? "" : "false alarm, " + warnings_of(visit.sick.report);
  std::vector<std::string> parts;
  if (!visit.finding_seen) {
    parts.push_back(fmt::format("`{}` was not found ({})", made.patient->finding, warnings_of(visit.sick.report)));
  }
  if (made.patient->has_cause() && visit.cause_rank != 0U) {
    const std::string place = visit.cause_rank ? fmt::format("in place {}", *visit.cause_rank + 1) : "not named";
    const auto& causes = visit.sick.report.causes;
    parts.push_back(fmt::format("`{}` is {}{}", made.patient->cause, place,
                                causes.empty() ? "" : fmt::format(", `{}` first", causes.front().cause)));
  }
  if (visit.treated && !visit.recovered) parts.push_back("not restored: " + visit.not_recovered);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string show_list(const TextOptions& options) {
  Sheet sheet(options);
  for (const bool healthy : {false, true}) {
    sheet.blank();
    sheet.line(sheet.painted(healthy ? "Healthy controls" : "Patients, by the lesson that tells of them", Ink::strong));
    std::map<int, std::vector<std::vector<std::string>>> rows;  // by lesson; 0: none
    for (const auto& [stem, patient] : gallery::patients()) {
      if (patient.healthy() != healthy) continue;
      rows[healthy ? 0 : lesson_of(patient)].push_back({std::string(patient.id), std::string(patient.title)});
    }
    for (const auto& [number, those] : rows) {
      if (const learn::Lesson* lesson = learn::find_lesson(number)) {
        sheet.paragraph("  ", fmt::format("{}. {}", number, lesson->title));
      }
      layout::table(sheet, "  ", those);
    }
  }
  sheet.blank();
  sheet.paragraph("", "osler gallery ID trains one, diagnoses it, treats it and trains it again; --help says more.");
  return sheet.str();
}

std::string show_knobs(const TextOptions& options) {
  Sheet sheet(options);
  std::vector<std::vector<std::string>> rows;
  const gallery::Recipe healthy;
  for (const gallery::Knob& knob : gallery::knobs()) {
    const std::string range = knob.choices.empty() ? fmt::format("{} to {}", layout::short_number(knob.least),
                                                                 layout::short_number(knob.most))
                                                   : fmt::format("{}", fmt::join(knob.choices, ", "));
    rows.push_back({std::string(knob.name), knob.get(healthy), fmt::format("{}: {}", knob.doc, range)});
  }
  layout::table(sheet, "", rows, {"knob", "default", "what it is"});
  return sheet.str();
}

std::string show_story(const Patient& patient, const TextOptions& options) {
  Sheet sheet(options);
  sheet.blank();
  sheet.paragraph("", sheet.painted(patient.title, Ink::strong) + "  " + sheet.painted(patient.id, Ink::faint));
  sheet.paragraph("", patient.story);
  if (!is_own(patient)) return sheet.str();
  std::vector<std::string> changes;
  for (const auto& change : gallery::differences(gallery::find_patient(patient.id)->recipe, patient.recipe)) {
    changes.push_back(fmt::format("{} {} {} {}", change.name, change.from, sheet.glyphs().arrow, change.to));
  }
  sheet.paragraph("", fmt::format("With what you set: {}.", fmt::join(changes, ", ")));
  return sheet.str();
}

std::string show_report(const Made& made, const TextOptions& options) {
  Report report = made.visit.sick.report;
  std::stable_partition(report.findings.begin(), report.findings.end(),
                        [&](const Observation& seen) { return seen.finding == made.patient->finding; });
  return render_text(report, options);
}

std::string show_outcome(const Made& made, const TextOptions& options) {
  Sheet sheet(options);
  const gallery::Visit& visit = made.visit;
  if (!visit.sick.origin.empty()) {
    sheet.blank();
    sheet.paragraph(
        "", sheet.painted("Origin of the first non-finite value  ", Ink::strong) + sheet.text(visit.sick.origin));
  }
  if (visit.cure) write_trials(sheet, *visit.cure);
  write_prescription(sheet, made);
  write_before_and_after(sheet, visit);
  sheet.blank();
  const bool good = as_expected(made);
  const std::string why = visit.not_recovered.empty() ? "" : ": " + visit.not_recovered;
  sheet.paragraph("", sheet.painted(verdict_word(made) + why + ".", good ? Ink::healthy : Ink::critical) +
                          (of_visitor(made) ? "" : " " + std::string(made.patient->lesson)));
  return sheet.str();
}

std::string show_table(const std::vector<Made>& all, const TextOptions& options) {
  Sheet sheet(options);
  std::vector<std::vector<std::string>> rows;
  std::size_t good = 0;
  for (const Made& made : all) {
    good += as_expected(made) ? 1 : 0;
    const gallery::Visit& visit = made.visit;
    const std::string rank = !made.patient->has_cause() ? ""
                             : visit.cause_rank         ? std::to_string(*visit.cause_rank + 1)
                                                        : "none";
    const std::string by = !visit.treated ? "" : visit.prescribed ? "patient's own" : "report";
    const std::string detail = visit.not_recovered.empty() ? warnings_of(visit.sick.report) : visit.not_recovered;
    rows.push_back({std::string(made.patient->id), std::to_string(visit.seed), verdict_word(made), rank, by, detail});
  }
  layout::table(sheet, "", rows, {"patient", "seed", "verdict", "cause", "treated by", "findings, or why not"});
  sheet.blank();
  sheet.paragraph("", fmt::format("{} of {} as expected.", good, layout::counted(all.size(), "visit")));
  return sheet.str();
}

}  // namespace osler::cli
