// Watches simulated trainings for hours on end, in minutes: healthy ones must be left alone by --stop-on critical,
// those that are doomed must be ended, whatever befalls their logs on the way.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "cli/watch/watch.h"
#include "watching/training_script.h"

namespace osler::watching {
namespace {

constexpr double kHour = 3600;

struct Wishes {
  double hours = 200;
  std::uint64_t seed = 1;
  double least_ended = 0.95;
  bool verbose = false;
  std::string keep;  ///< a folder for the logs of trainings that were judged wrongly
};

/// Standard output and error go nowhere while it lives: a watch prints what it sees.
class Silence {
 public:
  Silence() : out_(::dup(STDOUT_FILENO)), error_(::dup(STDERR_FILENO)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~Silence() {
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(error_, STDERR_FILENO);
    ::close(out_);
    ::close(error_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int out_;
  int error_;
};

/// What came of watching one training.
struct Outcome {
  double watched = 0;  ///< seconds
  std::optional<StopReason> stopped;
  double stopped_at = 0;  ///< seconds
  bool gave_up = false;   ///< the watch ended before the training did
};

/// Watches until the training is over, or would have been ended.
Outcome watch(Script& script, SimulatedClock& clock, MemoryFiles& files, const std::string& path) {
  const Silence silence;
  clock.tick = [&] { script.play(clock, files); };
  const auto source = cli::watch_files({path}, {}, -1, {files, clock});
  cli::WatchWishes wishes;
  wishes.stop_on = StopRule{};
  wishes.dry_run = true;
  wishes.until_done = true;
  wishes.idle_seconds = 4 * kHour;  // longer than any gap, but not than any leap of the clock
  cli::Watching watch(*source, std::move(wishes), clock);
  Outcome outcome;
  constexpr double kAfterwards = 30;
  double over_since = -1;
  for (;;) {
    const auto goes_on = watch.round();
    outcome.watched = clock.steady();
    if (watch.stopped()) {
      outcome.stopped = watch.stopped();
      outcome.stopped_at = clock.steady();
      return outcome;
    }
    if (script.over() && over_since < 0) over_since = clock.steady();
    if (over_since >= 0 && clock.steady() > over_since + kAfterwards) return outcome;
    if (!goes_on || !*goes_on) {
      outcome.gave_up = !script.over();
      return outcome;
    }
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Whether nothing can come of a training any more, by its loss alone: it has left the numbers for good, or given back
/// more than half of what it had gained, and so early that a second look is possible.
bool is_doomed(const simulate::SimulatedRun& run) {
  if (run.truth.healthy || run.curves.empty()) return false;
  const bool diverges = run.truth.finding == "loss-diverging";
  if (!diverges && !run.truth.finding.starts_with("loss-nonfinite")) return false;
  std::vector<double> loss;
  for (const simulate::Sample& sample : run.curves.front().samples) loss.push_back(sample.value);
  const auto newest = static_cast<std::ptrdiff_t>(std::min<std::size_t>(loss.size(), loss.size() / 5 + 10));
  const std::vector<double> end(loss.end() - newest, loss.end());
  const bool broken = std::none_of(end.begin(), end.end(), [](double value) { return std::isfinite(value); });
  if (!diverges || broken) return broken;
  constexpr std::size_t kHead = 5;
  const double start = median({loss.begin(), loss.begin() + kHead});
  const double best = *std::min_element(loss.begin(), loss.end());
  return median(end) > best + (start - best) / 2;
}

/// Results of one kind of training.
struct Count {
  int trainings = 0;
  int ended = 0;
  std::vector<double> delays;  ///< minutes from the row in which the illness begins to the end
};

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

class Ward {
 public:
  explicit Ward(const Wishes& wishes) : wishes_(wishes) {
    for (const simulate::Family& family : simulate::families()) (family.healthy ? healthy_ : sick_).push_back(&family);
  }

  int run() {
    for (std::uint64_t i = 0; watched_ < wishes_.hours * kHour; ++i) training(i);
    tell();
    const int doomed = counts_["doomed"].trainings;
    const int ended = counts_["doomed"].ended;
    const bool fine = counts_["healthy"].ended == 0 && gave_up_ == 0 && ended >= wishes_.least_ended * doomed;
    return fine ? 0 : 1;
  }

 private:
  /// Healthy and sick in turn; of every family as many.
  void training(std::uint64_t i) {
    constexpr std::size_t kFewestRows = 60;  // below that nothing is ever ended
    constexpr std::size_t kMostRows = 2000;
    const bool well = i % 2 == 0;
    const auto& families = well ? healthy_ : sick_;
    const simulate::Family& family = *families[(i / 2) % families.size()];
    simulate::Random random(wishes_.seed * 7919 + i);
    simulate::SimulatedRun run = simulate::draw(family, wishes_.seed * 100'000 + i / 2 / families.size());
    if (well && random.chance(0.25)) begin_late(run, random.log_integer(20, 500), random);
    const auto style = static_cast<LogStyle>(random.integer(0, kStyles - 1));
    const Mishaps mishaps{random.chance(0.4), random.chance(0.3), random.chance(0.3), random.chance(0.15),
                          random.chance(0.4)};
    Script script(run, style, mishaps, random);
    if (script.rows() < kFewestRows || script.rows() > kMostRows) return;
    SimulatedClock clock;
    MemoryFiles files("/training", clock);
    const bool folder = random.chance(0.3) && !mishaps.rotations;
    const Outcome outcome = watch(script, clock, files, folder ? "/training" : "/training/" + script.file());
    watched_ += outcome.watched;
    if (take(run, script, outcome, i) && !wishes_.keep.empty()) {
      const auto log = read_whole(files, "/training/" + script.file(), 1U << 30U);
      std::ofstream(fmt::format("{}/{}-{}", wishes_.keep, i, script.file())) << (log ? *log : "");
    }
  }

  /// Counts a training; true when it was judged wrongly.
  bool take(const simulate::SimulatedRun& run, const Script& script, const Outcome& outcome, std::uint64_t i) {
    const bool doomed = is_doomed(run);
    Count& count = counts_[run.truth.healthy ? "healthy" : doomed ? "doomed" : "sick, not doomed"];
    Count& kind = by_finding_[run.truth.healthy ? "healthy" : run.truth.finding];
    for (Count* one : {&count, &kind}) {
      ++one->trainings;
      one->ended += outcome.stopped ? 1 : 0;
    }
    gave_up_ += outcome.gave_up ? 1 : 0;
    if (outcome.stopped) {
      const auto since = script.written(outcome.stopped->finding.first_step);
      if (since) count.delays.push_back((outcome.stopped_at - *since) / 60);
    }
    const bool wrong = (run.truth.healthy && outcome.stopped) || (doomed && !outcome.stopped) || outcome.gave_up;
    if (!wrong && !wishes_.verbose) return false;
    fmt::print("number {}: {}/{} ({}), {} rows: {}\n", i, run.family, run.seed,
               run.truth.healthy ? "healthy" : run.truth.finding, script.rows(),
               outcome.gave_up   ? "the watch ended before the training"
               : outcome.stopped ? "ended: " + to_line(*outcome.stopped)
                                 : "not ended");
    return wrong;
  }

  void tell() {
    fmt::print("{:.0f} hours watched; the watch ended too early: {}\n", watched_ / kHour, gave_up_);
    for (const auto& [name, count] : counts_) {
      fmt::print("{}: {} trainings, {} ended", name, count.trainings, count.ended);
      if (!count.delays.empty()) {
        fmt::print(
            "; minutes from the step at which the finding begins to the end: median {:.1f}, nine in ten within {:.1f}",
            quantile(count.delays, 0.5), quantile(count.delays, 0.9));
      }
      fmt::print("\n");
    }
    for (const auto& [name, count] : by_finding_) {
      fmt::print("  {:<32} {:>4} of {:>4} ended\n", name, count.ended, count.trainings);
    }
  }

  Wishes wishes_;
  std::vector<const simulate::Family*> healthy_;
  std::vector<const simulate::Family*> sick_;
  double watched_ = 0;
  int gave_up_ = 0;
  std::map<std::string, Count> counts_;
  std::map<std::string, Count> by_finding_;
};

int run(int count, char** arguments) {
  Wishes wishes;
  CLI::App program("Watches simulated trainings for hours on end, in minutes.");
  program.add_option("--hours", wishes.hours, "How long, in simulated time")->capture_default_str();
  program.add_option("--seed", wishes.seed, "Other trainings and mishaps")->capture_default_str();
  program.add_option("--least-ended", wishes.least_ended, "Share of the doomed that must be ended")
      ->capture_default_str();
  program.add_option("--keep", wishes.keep, "A folder for the logs of trainings that were judged wrongly");
  program.add_flag("--verbose", wishes.verbose, "Tell of every training");
  CLI11_PARSE(program, count, arguments);
  return Ward(wishes).run();
}

}  // namespace
}  // namespace osler::watching

int main(int count, char** arguments) {
  return osler::watching::run(count, arguments);
}
