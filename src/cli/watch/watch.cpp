// The rounds of a watch.
#include "cli/watch/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

// Examinations come once a second, less often when they are dear: they take at most a twentieth of one core. What
// counts is the time they compute, not the time they wait on a busy machine.
constexpr double kExamineEvery = 0.75;  // files are looked at every quarter of a second, which may come on top
constexpr double kExamineShare = 20;
// A run that does not grow is still examined now and then: a stalled run is a finding.
constexpr double kExamineIdle = 10.0;
// A finding seen once is checked again after this time, even without new data, so that it can be reported.
constexpr double kConfirmAfter = 2.0;
// Something usually comes within this time; only then is it worth a word that nothing has.
constexpr double kSilentStart = 2.0;
constexpr double kDrawEvery = 0.5;
// Runs that are shown one line each when there are several.
constexpr std::size_t kMostLines = 12;

std::uint64_t points_of(const Run& run) {
  std::uint64_t points = 0;
  for (const Series& series : run.all_series()) points += series.summary().points();
  return points;
}

bool over(const Run& run) {
  return std::any_of(run.marks().begin(), run.marks().end(), [](const Mark& mark) {
    return mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed;
  });
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Watching::Watching(WatchedSource& source, WatchWishes wishes, WatchClock& clock)
    : source_(source),
      wishes_(std::move(wishes)),
      clock_(clock),
      messenger_(wishes_.addresses),
      started_(clock.steady()) {}

Result<bool> Watching::round() {
  const auto changed = source_.read_new();
  if (!changed) return changed.error();
  const bool waits = clock_.steady() > started_ + kSilentStart && !source_.waiting_for().empty();
  if (!announced_waiting_ && !wishes_.live && waits) {
    print_error(fmt::format("osler: waiting: {}\n", source_.waiting_for()));
    announced_waiting_ = true;
  }
  if (clock_.steady() >= next_examination_) {
    if (const auto examined = examine(false); !examined) return examined.error();
  }
  if (wishes_.live && clock_.steady() >= next_drawing_) draw();
  return !done();
}

/// Examines the runs that changed, or that have not been looked at for a while.
Result<void> Watching::examine(bool last) {
  const double start = clock_.steady();
  const double computed_before = clock_.computing();
  DiagnosisOptions options = wishes_.diagnosis;
  if (!last) options.now = clock_.wall();
  for (const Watched& watched : source_.runs()) {
    Known& known = known_[watched.run->name];
    const std::uint64_t points = points_of(*watched.run);
    const bool told = std::includes(known.told.begin(), known.told.end(), known.seen.begin(), known.seen.end());
    const bool recent = start - known.examined < (told ? kExamineIdle : kConfirmAfter);
    if (!last && points == known.points && recent) continue;
    auto report = diagnose(*watched.run, options);
    if (!report) return report.error();
    if (known.examined > 0 && points != known.points) known.grown = start;
    known.points = points;
    known.examined = start;
    act(*report, known, last);
    if (wishes_.stop_on && !last) {
      if (!known.judge) known.judge.emplace(*wishes_.stop_on);
      if (const auto reason = known.judge->look(*report, *watched.run)) stop_training(report->run_name, *reason);
    }
    known.doubtful = watched.doubtful;
    known.report = std::move(*report);
    if (!wishes_.live && !last) say(known.report, known);
  }
  next_examination_ = start + std::max(kExamineEvery, kExamineShare * (clock_.computing() - computed_before));
  return {};
}

/// Alerts what was seen twice in a row: the first sight of an illness may be a single odd value.
void Watching::act(const Report& report, Known& known, bool last) {
  std::set<std::string> seen;
  for (const Observation& finding : report.findings) {
    if (finding.severity < wishes_.alert_on) continue;
    seen.insert(finding.finding);
    const bool confirmed = last || known.seen.count(finding.finding) > 0;
    if (!confirmed || !known.told.insert(finding.finding).second) continue;
    alert(make_alert(report, finding));
  }
  known.seen = std::move(seen);
}

void Watching::alert(const Alert& alert) {
  if (!wishes_.dry_run) return messenger_.send(alert);
  if (wishes_.addresses.webhook) complain(fmt::format("dry run: would tell the webhook: {}", to_line(alert)));
  if (!wishes_.addresses.command.empty() && alert.finding.severity == Severity::critical) {
    complain(fmt::format("dry run: would run the command of --on-critical: {}", to_line(alert)));
  }
}

void Watching::stop_training(const std::string& run, const StopReason& reason) {
  if (stopped_) return;
  stopped_ = reason;
  const std::string evidence = fmt::format("{}: {}", run, to_line(reason));
  if (wishes_.dry_run) {
    complain(fmt::format("dry run: would stop the training now. {}", evidence));
    return;
  }
  if (!wishes_.process || !wishes_.process->alive()) return;
  const auto ended = wishes_.process->terminate();
  complain(ended ? fmt::format("sent SIGTERM to process {}. {}", wishes_.process->pid(), evidence)
                 : describe(ended.error()));
}

/// One line, or one JSON object, when what is to be said of the run has changed.
void Watching::say(const Report& report, Known& known) {
  if (report.status == Status::insufficient_data) return;  // it has only just begun
  std::string gist(to_string(report.status));
  for (const Observation& finding : report.findings) {
    gist += fmt::format(" {}/{}", finding.finding, to_string(finding.severity));
  }
  if (gist == known.said) return;
  known.said = gist;
  if (wishes_.json) {
    static_cast<void>(print_for(wishes_.on_error, render_json_line(report)));
    return;
  }
  static_cast<void>(print_for(wishes_.on_error, fmt::format("step {:>9}  {}\n", layout::grouped(report.steps.last),
                                                            render_line(report, wishes_.text))));
}

std::string Watching::status_line() const {
  const std::vector<Watched> runs = source_.runs();
  double newest = 0;
  for (const Watched& run : runs) newest = std::max(newest, run.modified_seconds);
  const double quiet = clock_.wall() - newest;
  std::string line = runs.empty() ? "waiting: " + source_.waiting_for()
                                  : fmt::format("watching {}, last value {} ago", layout::counted(runs.size(), "run"),
                                                duration_text(std::max(0.0, quiet)));
  if (stopped_ && !wishes_.dry_run) line += ", training told to stop";
  return line + "; Ctrl-C ends with the full report";
}

void Watching::draw() {
  next_drawing_ = clock_.steady() + kDrawEvery;
  const layout::Sheet sheet(wishes_.text);
  const int room = std::max(terminal_lines() - 1, 8);
  std::vector<const Report*> reports;
  for (const auto& [name, known] : known_) reports.push_back(&known.report);
  std::stable_sort(reports.begin(), reports.end(), [](const Report* a, const Report* b) {
    const auto rank = [](Status status) { return status == Status::insufficient_data ? -1 : static_cast<int>(status); };
    return rank(a->status) > rank(b->status);
  });
  std::string text;
  int used = 1;
  if (reports.size() > 1) {
    for (std::size_t i = 0; i < std::min(reports.size(), kMostLines); ++i, ++used) {
      text += render_line(*reports[i], wishes_.text) + "\n";
    }
    if (reports.size() > kMostLines) {
      text += fmt::format("and {} more\n", reports.size() - kMostLines);
      ++used;
    }
    text += "\n";
    ++used;
  }
  if (!reports.empty()) text += render_live(*reports.front(), wishes_.text, std::max(room - used, 6));
  text += sheet.painted(layout::clip(status_line(), sheet.width(), sheet.unicode()), layout::Ink::faint) + "\n";
  // Up to where the last drawing began, and clear to the end of the screen.
  const std::string back = lines_drawn_ > 0 ? fmt::format("\x1b[{}A\x1b[J", lines_drawn_) : "";
  lines_drawn_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  static_cast<void>(print(back + text));
}

/// For how long a run has not grown. Only of what was not seen to grow does the file's own time tell: clocks are set.
double Watching::quiet_seconds(const Watched& watched) const {
  const auto known = known_.find(watched.run->name);
  if (known != known_.end() && known->second.grown) return clock_.steady() - *known->second.grown;
  return clock_.wall() - watched.modified_seconds;
}

bool Watching::done() const {
  if (source_.ended()) return true;
  if (!wishes_.until_done) return false;
  if (wishes_.process && !wishes_.process->alive()) return true;
  const std::vector<Watched> runs = source_.runs();
  if (runs.empty()) return clock_.steady() - started_ > wishes_.idle_seconds;
  return std::all_of(runs.begin(), runs.end(), [&](const Watched& watched) {
    return over(*watched.run) || quiet_seconds(watched) > wishes_.idle_seconds;
  });
}

Result<std::vector<Report>> Watching::finish() {
  const bool nothing = source_.runs().empty();
  if (const auto finished = source_.finish(); !finished) {
    if (!nothing || !wishes_.until_done || clock_.steady() - started_ <= wishes_.idle_seconds) return finished.error();
    return Error{
        finished.error().code,
        fmt::format("no value came within {}: {}", duration_text(wishes_.idle_seconds), describe(finished.error())),
        {}};
  }
  if (const auto examined = examine(true); !examined) return examined.error();
  if (wishes_.live && lines_drawn_ > 0) static_cast<void>(print(fmt::format("\x1b[{}A\x1b[J", lines_drawn_)));
  std::vector<Report> reports;
  // Beside a run that can be judged, a file that may be no log at all is passed over.
  const bool judged = std::any_of(known_.begin(), known_.end(), [](const auto& entry) {
    return entry.second.report.status != Status::insufficient_data;
  });
  for (auto& [name, known] : known_) {
    const bool stray = judged && known.doubtful && known.report.status == Status::insufficient_data;
    if (!stray) reports.push_back(known.report);
  }
  return reports;
}

bool print_for(bool on_error, std::string_view text) {
  if (!on_error) return print(text);
  print_error(text);
  return true;
}

}  // namespace osler::cli
