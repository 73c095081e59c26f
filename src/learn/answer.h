// Checking an answer to an exercise against the key in its solution.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "learn/course.h"

namespace osler::learn {

/// The key of an exercise, from the comments of its solution:
///   <!-- answer: b -->                      words, in any case, with or without commas between them
///   <!-- answer: lr-too-high | lr-high -->  either is right
///   <!-- answer: between 2.2 and 2.4 -->    a number, the ends included
///   <!-- not c: why that is wrong -->       what to say of a wrong answer
struct Key {
  struct Wrong {
    std::string answer;
    std::string why;
  };
  std::vector<std::string> words;  ///< each one right, normalised
  bool is_number = false;
  double lowest = 0;
  double highest = 0;
  std::vector<Wrong> wrong;

  /// Whether there is anything to check against.
  [[nodiscard]] bool can_check() const { return is_number || !words.empty(); }
};

/// What was said of an answer.
struct Verdict {
  bool right = false;
  std::string text;  ///< why not; empty where the key does not say
};

/// The key in the solution of `exercise`.
[[nodiscard]] Key key_of(const Exercise& exercise);

/// Compares an answer with a key that can be checked. Numbers may be written as 0.25, 1e-3, 25% or 1/4.
[[nodiscard]] Verdict check(const Key& key, std::string_view answer);

/// An answer in one form: small letters, single spaces between words, no commas.
[[nodiscard]] std::string normalised(std::string_view answer);

}  // namespace osler::learn
