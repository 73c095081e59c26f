// What a learner has done so far, as it is kept between two calls of the program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "osler/base/result.h"

namespace osler::learn {

/// How often something was tried, and whether it was ever right.
struct Tries {
  int wrong = 0;
  int right = 0;

  friend bool operator==(const Tries&, const Tries&) = default;
};

/// Lessons that were shown, exercises that were answered, and illnesses that were named in the quiz.
struct Progress {
  std::set<int> read;
  std::map<int, Tries> exercises;
  std::map<std::string, Tries> quiz;  ///< by the id of the right answer

  friend bool operator==(const Progress&, const Progress&) = default;
};

/// A kept progress. Fails on what is no such file, so that nobody's other file is ever written over.
[[nodiscard]] Result<Progress> parse_progress(std::string_view text, const std::string& context);
[[nodiscard]] std::string render_progress(const Progress& progress);

}  // namespace osler::learn
