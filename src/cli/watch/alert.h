// Alert: a finding that somebody must hear of, as the message that commands and webhooks get.
#pragma once

#include <string>

#include "osler/diagnosis/report.h"

namespace osler::cli {

/// One finding of one run.
struct Alert {
  std::string run;
  Status status = Status::critical;
  std::string headline;
  Observation finding;
  std::string remedy;  ///< the first remedy of the most probable cause; may be empty
};

[[nodiscard]] Alert make_alert(const Report& report, const Observation& finding);

/// The whole alert in one line, for people.
[[nodiscard]] std::string to_line(const Alert& alert);

/// The line with the first remedy, as a message to people who are not at the terminal.
[[nodiscard]] std::string to_message(const Alert& alert);

/// As JSON: "text" is the message, which chat services show; the rest is for programs.
[[nodiscard]] std::string to_json(const Alert& alert);

}  // namespace osler::cli
