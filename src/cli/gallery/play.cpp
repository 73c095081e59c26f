// The playground's side that trains.
#include "cli/gallery/play.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/gallery/beside.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/gallery/patient.h"
#include "osler/gallery/visit.h"
#include "osler/runfile/reader.h"

namespace osler::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kPoliteness = 10;  // the server that started it, and its browser, go first
constexpr rlim_t kMostMemory = rlim_t{3} << 30U;
constexpr bool kLimitsMemory = !OSLER_SANITIZED;  // a sanitizer maps terabytes of shadow
constexpr rlim_t kMostFile = rlim_t{64} << 20U;
constexpr std::size_t kTrials = 6;
constexpr double kForksShare = 0.7;  // of the time; the rest is for the training with what helped
constexpr auto kTellEvery = std::chrono::milliseconds(100);

struct Arguments {
  std::string run;
  std::string patient;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  double seconds = 60;
  bool treat = false;
  std::string probe;
};

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

void tell(const Json& line) {
  // A server that is gone is noticed at the standard input.
  (void)print(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

int fail(const std::string& why) {
  tell({{"error", why}});
  return kCannotJudge;
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  now.rlim_cur = std::min(now.rlim_max, most);
  (void)::setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

/// A training that does not heed its stop, or swells, is ended by the system.
void limit_resources(double seconds) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  limit(RLIMIT_CPU, static_cast<rlim_t>((seconds + 10) * cores));
  if (kLimitsMemory) limit(RLIMIT_DATA, kMostMemory);
  limit(RLIMIT_FSIZE, kMostFile);
  [[maybe_unused]] const int politeness = ::nice(kPoliteness);
}

/// Requests a stop when the standard input ends.
class Leash {
 public:
  Leash() : watcher_([this](const std::stop_token& done) { watch(done); }) {}

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  void watch(const std::stop_token& done) {
    constexpr int kLookMilliseconds = 100;
    std::array<char, 256> ignored{};
    while (!done.stop_requested()) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, kLookMilliseconds) <= 0) continue;
      if (::read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0) {
        source_.request_stop();
        return;
      }
    }
  }

  std::stop_source source_;
  std::jthread watcher_;
};

class Playing {
 public:
  Playing(const Arguments& arguments, const gallery::Recipe& recipe, const gallery::Trainer& trainer)
      : arguments_(arguments), recipe_(recipe), trainer_(trainer) {}

  int train() {
    phase_ = "training";
    const auto result = trainer_(recipe_, options(arguments_.run, arguments_.seconds));
    if (!result) return fail(describe(result.error()));
    tell({{"result", outcome(*result)}});
    return kFine;
  }

  int probe() {
    const auto probe = gallery::find_probe(arguments_.probe);
    if (!probe) return fail(describe(probe.error()));
    phase_ = "training";
    gallery::TrainingOptions training = options({}, arguments_.seconds);
    training.probes = {*probe};
    // A probe of the fresh network needs no training.
    if (!(*probe)->trained) training.steps = 0;
    training.on_probe = [this](const gallery::ProbeProgress& progress) { report_progress(progress); };
    const auto result = trainer_(recipe_, training);
    if (!result) return fail(describe(result.error()));
    if (result->answers.empty()) return fail("it was stopped before the probe could begin");
    const gallery::ProbeAnswer& answer = result->answers.front();
    Json experiments = Json::array();
    for (const Experiment& experiment : answer.experiments) experiments.push_back(Json::parse(to_json(experiment)));
    tell({{"result", {{"experiments", std::move(experiments)}, {"words", answer.words}}}});
    return kFine;
  }

  int treat() {
    const auto run = read_run_file(arguments_.run);
    if (!run) return fail(describe(run.error()));
    const auto report = diagnose(*run);
    if (!report) return fail(describe(report.error()));
    gallery::VisitOptions visit;
    visit.training = options({}, 0);
    visit.treatment.trials = kTrials;
    visit.on_phase = [this](std::string_view phase) { phase_ = phase; };
    // A fork that ran out of time has a loss of its own that says nothing.
    const auto for_forks = [this](const gallery::Recipe& recipe,
                                  gallery::TrainingOptions training) -> Result<gallery::TrainingResult> {
      training.most_seconds = kForksShare * arguments_.seconds - passed();
      auto result = trainer_(recipe, training);
      if (result && result->stopped) return Error{ErrorCode::unsupported, "there was no time left for it", "fork"};
      return result;
    };
    const probes::Cure cure = gallery::cure(recipe_, *report, for_forks, visit);
    gallery::Recipe treated = gallery::changed(recipe_, cure.kept);
    const bool prescribed = cure.kept.empty() && prescribe(treated);
    Json result = cure_json(cure);
    result["prescribed"] = prescribed;
    result["changes"] = changes_json(treated);
    if (!leash_.token().stop_requested() && treated != recipe_) {
      phase_ = "treated";
      const auto again = trainer_(treated, options(treated_run(), arguments_.seconds - passed()));
      if (!again) return fail(describe(again.error()));
      result["outcome"] = outcome(*again);
    }
    tell({{"result", result}});
    return kFine;
  }

 private:
  [[nodiscard]] double passed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  [[nodiscard]] gallery::TrainingOptions options(const std::filesystem::path& run, double seconds) {
    gallery::TrainingOptions training;
    training.seed = arguments_.seed;
    training.name = std::filesystem::path(run.empty() ? arguments_.run : run.string()).stem().string();
    training.run_file = run;
    training.digits = digits_folder();
    training.stop = leash_.token();
    training.most_seconds = seconds;
    training.on_progress = [this](const gallery::Progress& progress) { report_progress(progress); };
    return training;
  }

  void report_progress(const gallery::Progress& progress) {
    if (Clock::now() < next_ && progress.step != progress.steps) return;
    next_ = Clock::now() + kTellEvery;
    tell({{"phase", phase_}, {"step", progress.step}, {"steps", progress.steps}, {"loss", number(progress.loss)}});
  }

  void report_progress(const gallery::ProbeProgress& progress) {
    if (Clock::now() < next_) return;
    next_ = Clock::now() + kTellEvery;
    tell({{"phase", "probe"},
          {"step", progress.passes},
          {"steps", std::max(progress.passes, progress.expected)},
          {"seconds_left", gallery::seconds_left(progress)}});
  }

  [[nodiscard]] std::filesystem::path treated_run() const {
    std::filesystem::path path = arguments_.run;
    return path.replace_filename(path.stem().string() + "-treated" + path.extension().string());
  }

  /// The report's remedies that a machine can apply did not help: what the patient's own page says is done.
  bool prescribe(gallery::Recipe& recipe) const {
    const gallery::Patient* patient = gallery::find_patient(arguments_.patient);
    if (patient == nullptr || patient->treatments.empty() || patient->recipe != recipe_) return false;
    for (const auto& [name, value] : patient->treatments.front().changes) {
      if (!gallery::set(recipe, name, value)) return false;
    }
    return recipe != recipe_;
  }

  [[nodiscard]] Json changes_json(const gallery::Recipe& treated) const {
    Json all = Json::array();
    for (const auto& difference : gallery::differences(recipe_, treated)) {
      all.push_back({{"name", difference.name}, {"from", difference.from}, {"to", difference.to}});
    }
    return all;
  }

  [[nodiscard]] static Json cure_json(const probes::Cure& cure) {
    Json trials = Json::array();
    for (const probes::Trial& trial : cure.trials) {
      trials.push_back({{"cause", trial.cause},
                        {"remedy", trial.remedy},
                        {"name", trial.change.name},
                        {"to", trial.change.to},
                        {"before", number(trial.before)},
                        {"after", number(trial.after)},
                        {"kept", trial.kept},
                        {"why", trial.why}});
    }
    return {{"trials", std::move(trials)}, {"for_a_person", cure.for_a_person}};
  }

  [[nodiscard]] static Json outcome(const gallery::TrainingResult& result) {
    return {{"steps", result.steps},
            {"stopped", result.stopped},
            {"drawn_digits", result.drawn_digits},
            {"true_loss", number(result.true_loss)},
            {"true_accuracy", result.true_accuracy ? number(*result.true_accuracy) : Json(nullptr)}};
  }

  const Arguments& arguments_;
  gallery::Recipe recipe_;
  const gallery::Trainer& trainer_;
  Leash leash_;
  std::string phase_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = Clock::now();
};

Result<gallery::Recipe> recipe_of(const Arguments& arguments) {
  gallery::Recipe recipe;
  if (!arguments.patient.empty()) {
    const gallery::Patient* patient = gallery::find_patient(arguments.patient);
    if (patient == nullptr) return Error{ErrorCode::not_found, "no such patient", arguments.patient};
    recipe = patient->recipe;
  }
  for (const std::string& setting : arguments.settings) {
    const std::size_t cut = std::min(setting.find('='), setting.size());
    const auto done = gallery::set(recipe, setting.substr(0, cut), setting.substr(std::min(cut + 1, setting.size())));
    if (!done) return done.error();
  }
  if (const auto fits = gallery::check(recipe); !fits) return fits.error();
  return recipe;
}

int play(const Arguments& arguments, const gallery::Trainer& trainer) {
  limit_resources(arguments.seconds);
  const auto recipe = recipe_of(arguments);
  if (!recipe) return fail(describe(recipe.error()));
  Playing playing(arguments, *recipe, trainer);
  if (!arguments.probe.empty()) return playing.probe();
  return arguments.treat ? playing.treat() : playing.train();
}

}  // namespace

int run_play(int count, const char* const* arguments, const gallery::Trainer& trainer) {
  CLI::App program("One training for the playground of osler serve, told as JSON lines; ends with its input.",
                   "osler-gallery play");
  Arguments wanted;
  program.add_option("--run", wanted.run, "The run file to write, or to treat")->required()->type_name("FILE");
  program.add_option("--patient", wanted.patient, "Whose recipe it is")->type_name("ID");
  program.add_option("--set", wanted.settings, "Change the recipe")->type_name("NAME=VALUE");
  program.add_option("--seed", wanted.seed, "The seed")->type_name("N");
  program.add_option("--seconds", wanted.seconds, "It is stopped after this")->type_name("S");
  program.add_flag("--treat", wanted.treat, "Treat the run by the remedies of its own report");
  program.add_option("--probe", wanted.probe, "Train again from the same seed and run this probe")->type_name("NAME");
  try {
    program.parse(count, arguments);
    return play(wanted, trainer);
  } catch (const CLI::Success&) {
    return print(program.help()) ? kFine : kCannotJudge;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace osler::cli
