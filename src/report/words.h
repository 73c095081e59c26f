// The words a report uses for degrees and kinds.
#pragma once

#include <string>
#include <string_view>

#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/measures.h"
#include "osler/run/event.h"

namespace osler::layout {

/// What a confidence means: "almost certain", "very likely", "likely", "more likely than not", "possible".
[[nodiscard]] std::string_view in_words(double confidence);
/// What a finding needs, for a person: "scalars from any log".
[[nodiscard]] std::string_view in_words(Need need);
/// How far some log-odds move a cause: "strongly", "clearly", "slightly".
[[nodiscard]] std::string_view strength(double log_odds);

/// A value beside those of healthy runs: "gradient norm 924: above 99.8 % of 2,310 healthy classifiers".
[[nodiscard]] std::string in_words(const Measured& measured);

}  // namespace osler::layout
