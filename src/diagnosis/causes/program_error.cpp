// program-error: the program itself failed.
#include "diagnosis/crash.h"
#include "diagnosis/facts.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
An exception that nobody caught: a wrong shape, a missing file, a full disk, a worker that died.

## How it shows
A traceback at the end of the log; its last line names the error.

## What else looks like it
Running out of memory, which has a cause of its own.

## References
- Python documentation, Errors and Exceptions.
)";

std::optional<std::string> impossible(const Patient&, const Verdicts& verdicts) {
  return other_crash(verdicts, "exception,killed");
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  (void)patient;
  list.push_back(
      advice("Mend the error that the last line of the traceback names, then resume from the newest checkpoint."));
  list.push_back(
      advice("Run one epoch on a hundred samples, validation and checkpoint included, before the long run."));
  return list;
}

}  // namespace

Cause program_error() {
  return {.id = "program-error",
          .title = "The program failed with an error of its own",
          .doc = kDoc,
          .prior = -1.5,
          .pulls = {{"run-crashed", 3.3, 0, "a program that fails ends so"}},
          .settle_probe = "",
          .settle = "Read the last line of the traceback and the first line of it that is your own code.",
          .impossible = impossible,
          .remedies = remedies};
}

}  // namespace osler::catalogue::cause
