// Reading the marks of a run's end.
#include "diagnosis/crash.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnosis/facts.h"
#include "diagnosis/prognosis.h"

namespace osler {
namespace {

/// Of a collective that ended the program: it was waited for, rather than that it broke at once.
bool tells_waiting(std::string_view line) {
  using namespace std::string_view_literals;
  constexpr std::array kWords = {"timeout"sv, "Timeout"sv, "timed out"sv, "Timed out"sv, "Watchdog"sv, "watchdog"sv};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

}  // namespace

std::string Crash::in_words() const {
  if (kind == "out-of-memory") return "running out of memory";
  if (kind == "nccl-timeout")
    return std::string("a collective operation that ") + (tells_waiting(line) ? "timed out" : "failed");
  if (kind == "time-limit") return "a time limit";
  if (kind == "preempted") return "preemption";
  if (kind == "killed") return "being killed";
  return "an exception";
}

std::optional<Crash> last_crash(const Patient& patient) {
  std::optional<Crash> crash;
  // One traceback amid the values of a log that stops early is that of its end; several were survived.
  const auto& marks = patient.run().marks();
  const auto crashes =
      std::count_if(marks.begin(), marks.end(), [](const Mark& mark) { return mark.kind == Mark::Kind::crashed; });
  const bool stops_early = crashes == 1 && planned_end(patient);
  for (const Mark& mark : marks) {
    if (mark.kind == Mark::Kind::restart || mark.kind == Mark::Kind::finished) crash.reset();
    const bool overtaken = mark.step < patient.run().steps().last;
    if (mark.kind != Mark::Kind::crashed || (overtaken && !stops_early)) continue;
    // Ctrl-C: the shell's 130, and the 255 that W&B writes for it. Whoever stops a run by hand knows why.
    if (mark.text == "exit code 130" || mark.text == "exit code 255") continue;
    const std::size_t colon = mark.text.find(": ");
    const std::string kind = mark.text.substr(0, colon);
    const bool known = kind == "exception" || kind == "out-of-memory" || kind == "nccl-timeout" ||
                       kind == "time-limit" || kind == "preempted" || kind == "killed";
    crash = Crash{known ? kind : "exception",
                  known && colon != std::string::npos ? mark.text.substr(colon + 2) : mark.text, mark.step, overtaken};
  }
  return crash;
}

std::optional<std::string> other_crash(const Verdicts& verdicts, std::string_view kinds) {
  const Observation* crash = verdicts.found("run-crashed");
  if (crash == nullptr) return "the program did not crash";
  const std::string_view kind = qualifier(crash, "kind");
  if (kinds.find(kind) != std::string_view::npos) return std::nullopt;
  return "the log names another end: " + std::string(kind);
}

}  // namespace osler
