// The catalogue: every finding and every cause Osler knows, as data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "osler/base/registry.h"
#include "osler/diagnosis/report.h"

namespace osler {

class Patient;
class SettingValues;
class Verdicts;

/// What a finding needs to be checked at all.
enum class Need {
  curve,       ///< scalars, from any log
  layer,       ///< statistics per parameter
  activation,  ///< statistics of activations
  batch,       ///< the data
  live,        ///< hooks in the training process
  probe,       ///< an active experiment
};
[[nodiscard]] std::string_view to_string(Need need);

/// By what a training must be judged for a finding to apply to it.
enum class JudgedBy {
  any,
  loss,         ///< trained on a plain loss: neither judged by a reward nor by networks that play against each other
  reward,       ///< judged by a reward
  adversarial,  ///< networks that play against each other
};

/// A number a finding decides by: named, documented, overridable (`--set finding.name=value`).
struct Setting {
  std::string_view name;
  double value = 0;
  std::string_view reason;  ///< what it is and where it comes from
};

/// The check ran and the condition is not there.
struct NotFound {};
/// The check could not run.
struct NotChecked {
  std::string reason;
};
using Verdict = std::variant<NotFound, Observation, NotChecked>;

/// A condition that can be seen in the numbers. One file of src/diagnosis/findings each.
struct Finding {
  std::string_view id;      ///< kebab-case, the file's name; a public contract
  std::string_view title;   ///< the condition in a few words: "Loss becomes non-finite after a good start"
  std::vector<Need> needs;  ///< any one of them suffices
  std::string_view doc;     ///< Markdown: what it is, signature, why it matters, when it is harmless, references
  std::vector<Setting> settings;
  Verdict (*check)(const Patient& patient, const SettingValues& settings);
  JudgedBy judged_by = JudgedBy::any;  ///< the engine does not ask the check about other runs
};

/// How one finding moves the odds of a cause.
struct Pull {
  std::string_view finding;
  double if_found = 0;   ///< added to the log-odds, scaled by the finding's confidence; negative speaks against
  double if_absent = 0;  ///< added when the check ran and found nothing
  std::string_view why;  ///< the reason when found, as a clause a person can read
};

/// A fact from the run that moves the odds of a cause without being a finding.
struct Clue {
  double weight = 0;  ///< log-odds; negative speaks against
  std::string text;
};

/// A hypothesis that explains findings. One file of src/diagnosis/causes each.
struct Cause {
  std::string_view id;
  std::string_view title;
  std::string_view doc;  ///< Markdown: what happens, how it shows, what else looks like it, references
  double prior = 0;      ///< log-odds before anything is seen
  std::vector<Pull> pulls;
  std::string_view settle_probe;  ///< the id of the probe that settles it; may be empty
  std::string_view settle;        ///< what to do or look at to settle it
  std::vector<Clue> (*clues)(const Patient& patient, const Verdicts& verdicts) = nullptr;  ///< may be null
  std::optional<std::string> (*impossible)(const Patient& patient,
                                           const Verdicts& verdicts) = nullptr;  ///< may be null
  std::vector<Remedy> (*remedies)(const Patient& patient, const Verdicts& verdicts) = nullptr;
};

/// All findings, and all causes, sorted by file name.
[[nodiscard]] std::span<const Registered<Finding>> findings();
[[nodiscard]] std::span<const Registered<Cause>> causes();
[[nodiscard]] const Finding* find_finding(std::string_view id);
[[nodiscard]] const Cause* find_cause(std::string_view id);

}  // namespace osler
