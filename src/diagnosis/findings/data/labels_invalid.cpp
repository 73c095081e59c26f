// labels-invalid: labels that are no labels.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Labels are NaN, fractional, negative, beyond the number of classes, or all the same.

## Signature
A batch with an invalid label is critical, and a warning where only batches of the validation have one. One label for all samples in more than `constant_share` of the batches is a
warning: where the label is another one from batch to batch, the data is sorted.

## Why it matters
Beyond the classes the loss reads foreign memory or stops; below, with an ignored index, it averages nothing. One label
for everything teaches the model to ignore its input.

## When it is harmless
A negative label that the loss ignores on purpose: -100 is passed over, tell the monitor of labels without any other.

## References
- Northcutt, Athalye, Mueller 2021, Pervasive Label Errors in Test Sets Destabilize Machine Learning Benchmarks.
)";

Verdict invalid_in_validation(const Patient& patient, const Recorded& labels) {
  Observation seen = observe(Severity::warning, 0.95, first_above(patient, labels, 0), labels.last_step,
                             "Labels of the validation are NaN, fractional, negative or beyond the classes.");
  seen.evidence.push_back(evidence(labels.series, seen.first_step, labels.last_step, labels.highest, 0,
                                   "up to " + per_cent(labels.highest) + " of a batch of the validation"));
  seen.qualifiers["kind"] = "invalid";
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto invalid = recorded(patient, series_name::kBatchInvalidLabelsShare);
  const auto constant = recorded(patient, series_name::kBatchConstantLabel);
  const auto validation = recorded(patient, series_name::kValidationInvalidLabelsShare);
  if (!invalid && !constant && !validation) {
    return NotChecked{"no labels were shown to the monitor: call monitor.batch(inputs, labels)"};
  }
  if (invalid && invalid->highest > 0) {
    Observation seen = observe(Severity::critical, 0.95, first_above(patient, *invalid, 0), invalid->last_step,
                               "Labels are NaN, fractional, negative or beyond the classes.");
    seen.evidence.push_back(evidence(invalid->series, seen.first_step, invalid->last_step, invalid->highest, 0,
                                     "up to " + per_cent(invalid->highest) + " of a batch"));
    seen.qualifiers["kind"] = "invalid";
    return seen;
  }
  if (validation && validation->highest > 0) return invalid_in_validation(patient, *validation);
  if (!constant) return NotFound{};
  const double share = share_above(patient, *constant, 0.5);
  if (!(share > settings["constant_share"])) return NotFound{};
  // Batches of one class each, and another one every time, are sorted data: the labels may well be right.
  const auto overall = recorded(patient, series_name::kBatchClassShareSoFar);
  const bool sorted = overall && overall->last < settings["sorted"];
  Observation seen = observe(Severity::warning, 0.9, first_above(patient, *constant, 0.5), constant->last_step,
                             "All labels are the same in " + per_cent(share) + " of the batches" +
                                 (sorted ? ", and not always the same ones: the data is sorted." : "."));
  seen.evidence.push_back(evidence(constant->series, seen.first_step, constant->last_step, share,
                                   settings["constant_share"], per_cent(share) + " of the batches have one label"));
  seen.qualifiers["kind"] = sorted ? "sorted" : "constant";
  return seen;
}

}  // namespace

Finding labels_invalid() {
  return {"labels-invalid",
          "Labels are invalid or all the same",
          {Need::batch},
          kDoc,
          {{"sorted", 0.95, "share of one class among all labels below which batches of one label are sorted data"},
           {"constant_share", 0.5, "share of batches with one label from which it is no chance"}},
          check};
}

}  // namespace osler::catalogue
