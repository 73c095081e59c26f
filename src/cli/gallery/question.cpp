// One question of the quiz: what may be answered, what is right, and why a wrong answer is wrong.
#include "cli/gallery/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "osler/diagnosis/catalogue.h"

namespace osler::cli {
namespace {

using gallery::Patient;

constexpr std::size_t kChoices = 5;

/// Causes that the run itself suggests, the most probable first, then what its numbers exclude, then any.
std::vector<std::string> suggested(const Report& report, std::mt19937_64& random) {
  std::vector<std::string> ids;
  for (const WeighedCause& cause : report.causes) ids.push_back(cause.cause);
  for (const RuledOut& cause : report.ruled_out) ids.push_back(cause.cause);
  std::vector<std::string> others;
  for (const auto& row : causes()) others.emplace_back(row.descriptor.id);
  std::shuffle(others.begin(), others.end(), random);
  ids.insert(ids.end(), others.begin(), others.end());
  return ids;
}

bool holds(const std::vector<Choice>& choices, std::string_view id) {
  return std::any_of(choices.begin(), choices.end(), [&](const Choice& choice) { return choice.id == id; });
}

std::string title_of(std::string_view id) {
  const Cause* cause = find_cause(id);
  return cause == nullptr ? std::string(id) : std::string(cause->title);
}

/// How a cause usually shows, by the findings that speak for it most.
std::string signs_of(const Cause& cause) {
  constexpr std::size_t kNamed = 2;
  std::vector<Pull> pulls = cause.pulls;
  std::stable_sort(pulls.begin(), pulls.end(), [](const Pull& a, const Pull& b) { return a.if_found > b.if_found; });
  std::vector<std::string> signs;
  for (const Pull& pull : pulls) {
    const Finding* finding = find_finding(pull.finding);
    if (pull.if_found <= 0 || finding == nullptr || signs.size() == kNamed) break;
    signs.push_back(fmt::format("\"{}\"", finding->title));
  }
  if (signs.empty()) return {};
  return fmt::format(" It would show as {}, and that was not seen.", fmt::join(signs, " or "));
}

/// What the report says of a cause that it weighed.
std::string weighed_text(const WeighedCause& weighed) {
  std::string text =
      fmt::format("{}: the report gives it {:.0f} %.", title_of(weighed.cause), 100 * weighed.probability);
  if (!weighed.speaks_against.empty()) text += fmt::format(" Against it: {}.", weighed.speaks_against.front().text);
  if (!weighed.settle.text.empty()) text += " What would tell: " + weighed.settle.text;
  return text;
}

}  // namespace

std::string_view right_answer(const Patient& patient) {
  return patient.healthy() ? kHealthy : patient.cause;
}

bool is_right(const Patient& patient, std::string_view id) {
  return id == right_answer(patient) ||
         std::find(patient.causes.begin(), patient.causes.end(), id) != patient.causes.end();
}

std::vector<Choice> choices_for(const Patient& patient, const Report& report, std::mt19937_64& random) {
  std::vector<Choice> choices = {{std::string(kHealthy), "Nothing is wrong"}};
  if (!patient.healthy()) choices.push_back({std::string(patient.cause), title_of(patient.cause)});
  for (const std::string& id : suggested(report, random)) {
    if (choices.size() == kChoices) break;
    if (is_right(patient, id) || holds(choices, id) || find_cause(id) == nullptr) continue;
    choices.push_back({id, title_of(id)});
  }
  std::shuffle(choices.begin(), choices.end(), random);
  return choices;
}

std::string why_not(const Patient& patient, const Report& report, std::string_view id) {
  if (is_right(patient, id)) return {};
  if (id == kHealthy) {
    const std::string seen = report.findings.empty() ? report.headline : report.findings.front().summary;
    return "Something is wrong: " + seen;
  }
  const Cause* cause = find_cause(id);
  if (cause == nullptr) return fmt::format("There is no cause called '{}'.", id);
  for (const RuledOut& excluded : report.ruled_out) {
    if (excluded.cause == id) return fmt::format("{}: the numbers exclude it. {}", cause->title, excluded.why);
  }
  for (const WeighedCause& weighed : report.causes) {
    if (weighed.cause == id) return weighed_text(weighed);
  }
  return fmt::format("{}: nothing in this run speaks for it.{}", cause->title, signs_of(*cause));
}

std::string layer_evidence(const Report& report) {
  std::string text;
  for (const Observation& finding : report.findings) {
    const Finding* known = find_finding(finding.finding);
    const bool curve_only =
        known != nullptr && !known->needs.empty() &&
        std::all_of(known->needs.begin(), known->needs.end(), [](Need need) { return need == Need::curve; });
    if (curve_only && finding.layers.empty()) continue;
    for (const Evidence& evidence : finding.evidence) {
      const std::string where = evidence.series.empty() ? "" : fmt::format("`{}`: ", evidence.series);
      text += fmt::format("- {}{} (steps {} to {})\n", where, evidence.text, evidence.first_step, evidence.last_step);
    }
    if (!finding.layers.empty()) text += fmt::format("- in {}\n", fmt::join(finding.layers, ", "));
  }
  if (text.empty()) return "Layers, activations and batches look as they should.\n";
  return text;
}

}  // namespace osler::cli
