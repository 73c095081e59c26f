// News: when a training is diagnosed while it runs, and what of it is new.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monitor/spending.h"
#include "osler/diagnosis/report.h"
#include "osler/diagnosis/stop_rule.h"
#include "osler/recorder/recorder.h"

namespace osler::monitor {

/// Diagnoses after 50 and 100 steps and after the first validation, as long as the first looks have time left, so that
/// what was seen early is told early; then every few seconds, as the budget allows.
class News {
 public:
  /// `every`: steps between diagnoses; 0: as above, -1: never.
  explicit News(std::int64_t every);

  /// Whether it is time to ask, at the end of this step; `seen`: how many there were with it.
  [[nodiscard]] bool due(std::int64_t step, std::int64_t seen, const Spending& spending);
  /// The same when the result of a validation has been told: once.
  [[nodiscard]] bool due_after_validation(const Spending& spending);
  /// Diagnoses, and gives the findings that are new or got worse.
  std::vector<Observation> take(Recorder& recorder, std::int64_t seen, Spending& spending);
  /// Why it is of no use to go on, once diagnoses have confirmed it on later data (StopRule).
  [[nodiscard]] const std::optional<StopReason>& hopeless() const { return hopeless_; }

 private:
  std::int64_t every_;
  double newest_;                 // when
  std::int64_t newest_seen_ = 0;  // after how many steps
  bool validated_ = false;
  bool early_ = false;                    // what is due is one of the first looks
  std::map<std::string, Severity> told_;  // by finding
  StopJudge judge_{StopRule{}};
  std::optional<StopReason> hopeless_;
};

}  // namespace osler::monitor
