// Crash: the words with which a log says that training was ended by force.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"

namespace osler {

/// How a run ended that did not end by plan.
struct Crash {
  std::string kind;  ///< "exception", "out-of-memory", "nccl-timeout", "time-limit", "preempted", "killed"
  std::string line;  ///< the log's own words
  std::int64_t step = 0;
  /// Values stand behind the words: what a program prints to a file waits in a buffer, and the traceback does not.
  bool overtaken = false;

  /// "running out of memory", for a sentence.
  [[nodiscard]] std::string in_words() const;
};

/// The crash after which no more values came, or with which a log stops short of its planned end; nothing when the run
/// went on, ended by plan, or is still going.
[[nodiscard]] std::optional<Crash> last_crash(const Patient& patient);

/// Why a cause of another kind of crash is impossible; nothing when the crash is of one of `kinds` (separated by
/// commas).
[[nodiscard]] std::optional<std::string> other_crash(const Verdicts& verdicts, std::string_view kinds);

}  // namespace osler
