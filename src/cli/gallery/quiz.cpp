// Asking for a diagnosis, explaining the right one and the wrong one, and keeping the score.
#include "cli/gallery/quiz.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>

#include "cli/gallery/question.h"
#include "cli/learn/keep.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "report/layout.h"
#include "report/plot.h"

namespace osler::cli {
namespace {

using gallery::Patient;

/// The curves and nothing that names the illness.
std::string show_curves(const gallery::TrainingResult& result, const TextOptions& options) {
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

std::string show_choices(const std::vector<Choice>& choices) {
  std::string question = "\nWhat is the cause?\n";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    question += fmt::format("  {}  {}  ({})\n", i + 1, choices[i].text, choices[i].id);
  }
  return question;
}

/// The id behind a number that a person typed, or what they typed.
std::string chosen(const std::vector<Choice>& choices, const std::string& answer) {
  if (answer.size() == 1 && answer[0] >= '1' && answer[0] < static_cast<char>('1' + choices.size())) {
    return choices[static_cast<std::size_t>(answer[0] - '1')].id;
  }
  return answer;
}

/// The id that was answered, after as many hints as were asked for; nothing at the end of the input.
std::optional<std::string> ask(const std::vector<Choice>& choices, const Report& report, const QuizOptions& options,
                               std::istream& answers) {
  if (!print(show_choices(choices))) return std::nullopt;
  std::string answer;
  while (print("Number or id, l for the layers, empty for a hint, q to stop: ") && std::getline(answers, answer)) {
    if (answer == "q") break;
    if (answer == "l") {
      if (!print("\n" + render_markdown(layer_evidence(report), options.look))) break;
    } else if (answer.empty()) {
      const std::string hint = report.findings.empty() ? "nothing" : report.findings.front().summary;
      if (!print(render_markdown("Hint: Osler sees: " + hint + "\n", options.look))) break;
    } else {
      return chosen(choices, answer);
    }
  }
  return std::nullopt;
}

struct Score {
  int right = 0;
  int asked = 0;
};

std::string verdict_on(const Patient& patient, const Report& report, const std::string& answer) {
  if (is_right(patient, answer)) return "**Right.**";
  return fmt::format("**No: it is {}.** {}", right_answer(patient), why_not(patient, report, answer));
}

/// False when the person has had enough.
bool ask_about(const Patient& patient, const gallery::TrainingResult& result, std::mt19937_64& random, Score& score,
               const QuizOptions& options, std::istream& answers) {
  const std::vector<Choice> choices = choices_for(patient, result.report, random);
  const auto answer = ask(choices, result.report, options, answers);
  if (!answer) return false;
  const bool right = is_right(patient, *answer);
  ++score.asked;
  score.right += right ? 1 : 0;
  const auto path = progress_file(options.progress);
  const auto kept = path ? keep_progress(*path,
                                         [&](learn::Progress& progress) {
                                           learn::Tries& tries = progress.quiz[std::string(right_answer(patient))];
                                           ++(right ? tries.right : tries.wrong);
                                         })
                         : Result<learn::Progress>(path.error());
  if (!kept) complain("the score is not kept: " + describe(kept.error()));
  const std::string words = fmt::format("{}\n\n{}\n", verdict_on(patient, result.report, *answer), patient.story);
  return print("\n" + render_markdown(words, options.look) + "\n" + render_text(result.report, options.look) + "\n" +
               render_markdown(std::string(patient.lesson) + "\n", options.look));
}

/// What the quizzes so far have shown, in a sentence or two.
std::string standing(const QuizOptions& options) {
  const auto path = progress_file(options.progress);
  const auto progress = path ? kept_progress(*path) : Result<learn::Progress>(path.error());
  if (!progress || progress->quiz.empty()) return {};
  int right = 0;
  int asked = 0;
  const auto hardest = std::max_element(progress->quiz.begin(), progress->quiz.end(),
                                        [](const auto& a, const auto& b) { return a.second.wrong < b.second.wrong; });
  for (const auto& [id, tries] : progress->quiz) {
    right += tries.right;
    asked += tries.right + tries.wrong;
  }
  std::string text = fmt::format("In all quizzes so far: {} of {}.", right, asked);
  if (hardest->second.wrong > 0) {
    text += fmt::format(" Most often missed: {} ({} of {}).", hardest->first, hardest->second.wrong,
                        hardest->second.wrong + hardest->second.right);
  }
  return text + "\n";
}

}  // namespace

int run_quiz(std::vector<Patient> patients, const gallery::Trainer& trainer, const QuizOptions& options,
             std::istream& answers) {
  std::mt19937_64 random(options.order);
  std::erase_if(patients, [](const Patient& patient) { return !patient.has_cause() && !patient.healthy(); });
  std::shuffle(patients.begin(), patients.end(), random);
  Score score;
  for (const Patient& patient : patients) {
    if (!print("\nTraining a patient ...\n")) return kCannotJudge;
    gallery::TrainingOptions training;
    training.seed = options.seed;
    training.digits = options.digits;
    const auto result = trainer(patient.recipe, training);
    if (!result) {
      complain(result.error());
      return kCannotJudge;
    }
    if (!print(show_curves(*result, options.look)) || !ask_about(patient, *result, random, score, options, answers)) {
      break;
    }
  }
  return print(fmt::format("\n{} of {} right.\n{}", score.right, score.asked, standing(options))) ? kFine
                                                                                                  : kCannotJudge;
}

}  // namespace osler::cli
