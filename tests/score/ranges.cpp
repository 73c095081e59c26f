// Learns the reference ranges.
#include "score/ranges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace osler::score {
namespace {

constexpr std::size_t kFewestRuns = 20;  // fewer say nothing about what is unusual

bool may_teach(const Subject& subject) {
  const bool real = subject.source == Source::corpus || subject.source == Source::population;
  return real && subject.part != kLeftOut && subject.decided && subject.certain && subject.truth.healthy;
}

}  // namespace

ReferenceRanges learn_from(std::vector<Subject>& subjects) {
  std::vector<MeasuredRun> healthy;
  for (Subject& subject : subjects) {
    if (!may_teach(subject)) continue;
    const Result<std::vector<Run>> runs = subject.load(subject);
    if (!runs || runs->size() != 1) continue;
    if (Result<MeasuredRun> measured = measure(runs->front())) healthy.push_back(std::move(*measured));
  }
  return learn_ranges(healthy, kFewestRuns);
}

std::string ranges_source(const ReferenceRanges& ranges) {
  std::string text =
      "// Written by osler_score --learn-ranges; not to be edited by hand. Each row: the measure, the healthy runs it "
      "was\n"
      "// taken of, how many they are, and the quantiles of reference_levels().\n"
      "#include \"diagnosis/reference_table.h\"\n\n"
      "// clang-format off\n"
      "namespace osler {\n\n";
  text += fmt::format("std::size_t reference_runs() {{\n  return {};\n}}\n\n", ranges.runs);
  text +=
      "std::span<const ReferenceTableRow> reference_table() {  // NOLINT(readability-function-size): a table\n  static "
      "constexpr ReferenceTableRow kRows[] = {\n";
  for (const ReferenceRow& row : ranges.rows) {
    text += fmt::format("      {{\"{}\", \"{}\", {}, {{{:.4g}}}}},\n", row.measure, row.stratum, row.runs,
                        fmt::join(row.quantiles, ", "));
  }
  return text + "  };\n  return kRows;\n}\n\n}  // namespace osler\n// clang-format on\n";
}

}  // namespace osler::score
