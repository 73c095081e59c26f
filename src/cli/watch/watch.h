// Watching: examining runs again and again while they grow, telling what changed, and acting on it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/watch/child.h"
#include "cli/watch/messenger.h"
#include "cli/watch/source.h"
#include "cli/watch/surroundings.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/stop_rule.h"
#include "osler/report/render.h"

namespace osler::cli {

/// What the user wants of the watching.
struct WatchWishes {
  DiagnosisOptions diagnosis;
  Addresses addresses;
  Severity alert_on = Severity::critical;
  std::optional<StopRule> stop_on;
  bool dry_run = false;            ///< say what would be done, and do nothing
  std::optional<Process> process;  ///< the training, to be stopped or waited for
  bool until_done = false;
  double idle_seconds = 600;  ///< with until_done: a run that has not grown for so long is done
  bool json = false;
  bool live = false;      ///< draw over the terminal instead of printing lines
  bool on_error = false;  ///< everything goes to standard error: standard output is the training's
  TextOptions text;
};

/// Watches one source until it ends, and prints what it sees.
class Watching {
 public:
  /// What is handed in must outlive the watch.
  Watching(WatchedSource& source, WatchWishes wishes, WatchClock& clock = real_clock());

  /// One round: reads, examines what is due, shows and acts. False when the watching is over by itself.
  [[nodiscard]] Result<bool> round();
  /// The end, by plan or by Ctrl-C: takes the last lines, and the final reports.
  [[nodiscard]] Result<std::vector<Report>> finish();
  /// Why the training was told to stop, or would have been in a dry run; nothing when it was not.
  [[nodiscard]] const std::optional<StopReason>& stopped() const { return stopped_; }

 private:
  /// What was last said of a run.
  struct Known {
    Report report;
    std::uint64_t points = 0;
    double examined = 0;          ///< seconds on the steady clock; 0: never
    std::optional<double> grown;  ///< when it was last seen to have grown, on the same clock
    std::set<std::string> seen;   ///< findings of the last examination that are worth an alert
    std::set<std::string> told;   ///< findings that were alerted
    std::string said;             ///< the last line printed
    bool doubtful = false;        ///< perhaps no log at all
    std::optional<StopJudge> judge;
  };

  [[nodiscard]] Result<void> examine(bool last);
  void act(const Report& report, Known& known, bool last);
  void alert(const Alert& alert);
  void stop_training(const std::string& run, const StopReason& reason);
  void say(const Report& report, Known& known);
  void draw();
  [[nodiscard]] std::string status_line() const;
  [[nodiscard]] double quiet_seconds(const Watched& watched) const;
  [[nodiscard]] bool done() const;

  WatchedSource& source_;
  WatchWishes wishes_;
  WatchClock& clock_;
  Messenger messenger_;
  std::map<std::string, Known> known_;
  double started_;
  double next_examination_ = 0;
  double next_drawing_ = 0;
  int lines_drawn_ = 0;
  std::optional<StopReason> stopped_;
  bool announced_waiting_ = false;
};

/// Writes to standard output, or to standard error where standard output is the training's.
[[nodiscard]] bool print_for(bool on_error, std::string_view text);

}  // namespace osler::cli
