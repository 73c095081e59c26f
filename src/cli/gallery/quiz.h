// The quiz: the curves of a patient, a question, and the answer with its reasons.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "osler/gallery/patient.h"
#include "osler/gallery/training.h"
#include "osler/report/render.h"

namespace osler::cli {

/// How a quiz is held.
struct QuizOptions {
  TextOptions look;
  std::filesystem::path digits;  ///< the folder of the MNIST files
  std::uint64_t seed = 1;        ///< of the trainings
  std::uint64_t order = 1;       ///< of the questions and of the answers to each
  std::string progress;          ///< the file in which the score is kept; empty: the usual one
};

/// Asks about the patients, the healthy ones too, in an order of its own, on standard output, and reads answers from
/// `answers` until it ends. The score is kept from one quiz to the next. Returns the exit code.
[[nodiscard]] int run_quiz(std::vector<gallery::Patient> patients, const gallery::Trainer& trainer,
                           const QuizOptions& options, std::istream& answers);

}  // namespace osler::cli
