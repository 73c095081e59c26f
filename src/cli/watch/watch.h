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
#include "osler/diagnosis/diagnose.h"
#include "osler/report/render.h"

namespace osler::cli {

/// What the user wants of the watching.
struct WatchWishes {
  DiagnosisOptions diagnosis;
  Addresses addresses;
  Severity alert_on = Severity::critical;
  std::optional<Severity> stop_on;
  std::optional<Process> process;  ///< the training, to be stopped or waited for
  bool until_done = false;
  double idle_seconds = 600;  ///< with until_done: a run that has not grown for so long is done
  bool json = false;
  bool live = false;  ///< draw over the terminal instead of printing lines
  TextOptions text;
};

/// Watches one source until it ends. Prints to standard output.
class Watch {
 public:
  Watch(WatchedSource& source, WatchWishes wishes);

  /// One round: reads, examines what is due, shows and acts. False when the watching is over by itself.
  [[nodiscard]] Result<bool> round();
  /// The end, by plan or by Ctrl-C: takes the last lines, and the final reports.
  [[nodiscard]] Result<std::vector<Report>> finish();

 private:
  /// What was last said of a run.
  struct Known {
    Report report;
    std::uint64_t points = 0;
    double examined = 0;         ///< seconds on the steady clock
    std::set<std::string> seen;  ///< findings of the last examination that are worth an alert
    std::set<std::string> told;  ///< findings that were alerted
    std::string said;            ///< the last line printed
  };

  [[nodiscard]] Result<void> examine(bool last);
  void act(const Report& report, Known& known, bool last);
  void stop_training(const Alert& alert);
  void say(const Report& report, Known& known);
  void draw();
  [[nodiscard]] std::string status_line() const;
  [[nodiscard]] bool done() const;

  WatchedSource& source_;
  WatchWishes wishes_;
  Messenger messenger_;
  std::map<std::string, Known> known_;
  double started_;
  double next_examination_ = 0;
  double next_drawing_ = 0;
  int lines_drawn_ = 0;
  bool stopped_ = false;
  bool announced_waiting_ = false;
};

}  // namespace osler::cli
