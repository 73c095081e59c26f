// Card: what the list of runs shows of one run, small enough to be kept for every run.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "osler/diagnosis/report.h"
#include "osler/run/run.h"

namespace osler::dashboard {

/// One run in the list.
struct Card {
  std::string id;
  std::string name;
  std::string format;
  std::string status;  ///< a report's status, "unexamined" before the first report, or "unreadable"
  std::int64_t last_step = 0;
  double loss = 0;  ///< the newest training loss; NaN when there is none
  double gradient_norm = 0;
  std::array<std::uint64_t, 3> findings{};  ///< by severity
  bool archived = false;                    ///< somebody is done with it: it is listed apart
  std::string json = {};                    ///< all of it and the spark line, as the API gives it
  std::string row = {};                     ///< configuration and figures, as JSON, for columns that are asked for
  std::uint64_t revision = 0;               ///< when it was last changed
};

/// The same card as that of a run somebody is done with.
[[nodiscard]] Card archived_card(Card card);
/// A run that was found, before its numbers are known.
[[nodiscard]] Card unexamined_card(const std::string& id, const std::string& name, const std::string& format,
                                   double modified_seconds);
/// A run that cannot be read, and why.
[[nodiscard]] Card unreadable_card(const std::string& id, const std::string& name, const std::string& format,
                                   double modified_seconds, const std::string& why);
/// A run with its report.
[[nodiscard]] Card examined_card(const std::string& id, const std::string& name, double modified_seconds,
                                 const Run& run, const Report& report);

}  // namespace osler::dashboard
