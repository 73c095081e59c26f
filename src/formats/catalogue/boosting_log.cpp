// The evaluation lines of XGBoost and LightGBM.
#include <algorithm>

#include "formats/text/text_reader.h"

namespace osler::catalogue {
namespace {

/// "[10]<tab>validation_0-logloss:0.45", "[10]<tab>valid_0's auc: 0.9"
bool is_evaluation(std::string_view line) {
  if (!line.starts_with('[')) return false;
  const std::size_t close = line.find_first_not_of("0123456789", 1);
  if (close == std::string_view::npos || close == 1 || !line.substr(close).starts_with("]\t")) return false;
  const std::size_t colon = line.find(':', close);
  return colon != std::string_view::npos && line.find_first_of("0123456789", colon) != std::string_view::npos;
}

Sniff sniff(const Peek& peek) {
  constexpr int kEnough = 2;
  int found = 0;
  for (std::size_t at = 0; at < peek.head.size() && found < kEnough;) {
    const std::size_t end = std::min(peek.head.find('\n', at), peek.head.size());
    found += is_evaluation(peek.head.substr(at, end - at)) ? 1 : 0;
    at = end + 1;
  }
  return found >= kEnough ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<text::TextReader>();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
What XGBoost and LightGBM print while they train with evaluation sets.

**What is read.** `[10]<tab>validation_0-logloss:0.45<tab>validation_1-logloss:0.47` and
`[10]<tab>training's auc: 0.95<tab>valid_1's auc: 0.91`: the round in brackets is the step, each evaluation a series under
the name it is printed with.

**Quirks.** In XGBoost `validation_0` is the first set that was passed, which by habit is the training set.
)";

}  // namespace

Format boosting_log() {
  return {"boosting-log", "XGBoost and LightGBM evaluation log", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
