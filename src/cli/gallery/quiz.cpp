// Asking for a diagnosis and explaining the right one.
#include "cli/gallery/quiz.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/terminal.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/gallery/patient.h"
#include "report/layout.h"
#include "report/plot.h"

namespace osler::cli {
namespace {

using gallery::Patient;

constexpr std::size_t kChoices = 4;

/// The curves and nothing that names the illness.
std::string show_curves(const gallery::CourseResult& result, const TextOptions& options) {
  layout::Sheet sheet(options);
  for (const Sketch& sketch : result.report.sketches) {
    sheet.blank();
    sheet.line(sheet.text(sketch.series, layout::Ink::strong));
    layout::Plot plot;
    plot.curves = {&sketch};
    plot.rows = 5;
    for (const std::string& line : layout::draw(plot, sheet, 2)) sheet.line(line);
  }
  return sheet.str();
}

/// The right cause among others, in an order that does not give it away.
std::vector<const Cause*> choices_for(const Patient& patient, std::mt19937_64& random) {
  std::vector<const Cause*> wrong;
  for (const auto& row : causes()) {
    const std::string_view id = row.descriptor.id;
    const bool right =
        id == patient.cause || std::find(patient.causes.begin(), patient.causes.end(), id) != patient.causes.end();
    if (!right) wrong.push_back(&row.descriptor);
  }
  std::shuffle(wrong.begin(), wrong.end(), random);
  wrong.resize(std::min(wrong.size(), kChoices - 1));
  if (const Cause* right = find_cause(patient.cause)) wrong.push_back(right);
  std::shuffle(wrong.begin(), wrong.end(), random);
  return wrong;
}

/// The number a person typed, an id, or nothing at the end of the input.
std::optional<std::string> ask(const std::vector<const Cause*>& choices) {
  std::string question = "\nWhat is the cause?\n";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    question += fmt::format("  {}  {}  ({})\n", i + 1, choices[i]->title, choices[i]->id);
  }
  if (!print(question + "Number or id, empty for a hint, q to stop: ")) return std::nullopt;
  std::string answer;
  if (!std::getline(std::cin, answer) || answer == "q") return std::nullopt;
  if (answer.size() == 1 && answer[0] >= '1' && answer[0] < static_cast<char>('1' + choices.size())) {
    return std::string(choices[static_cast<std::size_t>(answer[0] - '1')]->id);
  }
  return answer;
}

struct Score {
  int right = 0;
  int asked = 0;
};

/// False when the person has had enough.
bool ask_about(const Patient& patient, const gallery::CourseResult& result, std::mt19937_64& random, Score& score,
               const TextOptions& options) {
  const std::vector<const Cause*> choices = choices_for(patient, random);
  std::optional<std::string> answer = ask(choices);
  if (answer && answer->empty()) {
    const std::string hint = result.report.findings.empty() ? "nothing" : result.report.findings.front().summary;
    if (!print("Hint: Osler sees: " + hint + "\n")) return false;
    answer = ask(choices);
  }
  if (!answer) return false;
  ++score.asked;
  const bool right = *answer == patient.cause ||
                     std::find(patient.causes.begin(), patient.causes.end(), *answer) != patient.causes.end();
  score.right += right ? 1 : 0;
  const std::string verdict = right ? "\nRight.\n" : fmt::format("\nNo: it is {}.\n", patient.cause);
  return print(verdict + std::string(patient.story) + "\n\n" + render_text(result.report, options) + "\n" +
               std::string(patient.lesson) + "\n");
}

}  // namespace

int run_quiz(std::vector<Patient> patients, const gallery::Trainer& trainer, const TextOptions& options,
             const std::filesystem::path& digits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::erase_if(patients, [](const Patient& patient) { return !patient.has_cause(); });
  std::shuffle(patients.begin(), patients.end(), random);
  Score score;
  for (const Patient& patient : patients) {
    if (!print("\nTraining a patient ...\n")) return kCannotJudge;
    gallery::CourseOptions course;
    course.seed = seed;
    course.digits = digits;
    const auto result = trainer(patient.recipe, course);
    if (!result) {
      complain(describe(result.error()));
      return kCannotJudge;
    }
    if (!print(show_curves(*result, options)) || !ask_about(patient, *result, random, score, options)) break;
  }
  return print(fmt::format("\n{} of {} right.\n", score.right, score.asked)) ? kFine : kCannotJudge;
}

}  // namespace osler::cli
