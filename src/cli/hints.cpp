// What to type for what a library advises, found by the words of the advice.
#include "cli/hints.h"

#include <array>
#include <string_view>

namespace osler::cli {
namespace {

struct Hint {
  std::string_view advice;  ///< as the library words it
  std::string_view option;
};

constexpr std::array kHints = {
    Hint{"name its format", "--format ID"},
    Hint{"name another format", "--format ID"},
    Hint{"what its series mean", "--role train-loss=NAME"},
    Hint{"name the series to draw", "--series A,B"},
    Hint{"the report has it", "osler diagnose RUN --verbose"},
    Hint{"it needs a token", "--token-file FILE, or the variable OSLER_TOKEN"},
    Hint{"choose another port", "--port N"},
    Hint{"a recipe has no", "osler gallery --knobs lists what it has"},
};

}  // namespace

std::string describe_with_options(const Error& error) {
  std::string options;
  for (const Hint& hint : kHints) {
    if (error.message.find(hint.advice) == std::string::npos) continue;
    options.append(options.empty() ? " (" : ", ").append(hint.option);
  }
  return describe(error) + options + (options.empty() ? "" : ")");
}

}  // namespace osler::cli
