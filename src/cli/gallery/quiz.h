// The quiz: the curves of a patient, a question, and the answer with its reasons.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "osler/gallery/course.h"
#include "osler/gallery/patient.h"
#include "osler/report/render.h"

namespace osler::cli {

/// Asks about the patients, in an order of its own, on standard output and reads answers from standard input until it
/// ends; returns the exit code.
[[nodiscard]] int run_quiz(std::vector<gallery::Patient> patients, const gallery::Trainer& trainer,
                           const TextOptions& options, const std::filesystem::path& digits, std::uint64_t seed);

}  // namespace osler::cli
