// The command line of the gallery.
#include "cli/gallery/gallery.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "cli/gallery/beside.h"
#include "cli/gallery/page.h"
#include "cli/gallery/play.h"
#include "cli/gallery/probing.h"
#include "cli/gallery/quiz.h"
#include "cli/gallery/show.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "osler/figures/figure.h"
#include "osler/gallery/patient.h"
#include "osler/report/render.h"

namespace osler::cli {
namespace {

namespace fs = std::filesystem;
using gallery::Patient;
using gallery::VisitOptions;

constexpr const char* kDescription = "Train sick networks; see them diagnosed, treated and cured";
constexpr const char* kFooter =
    R"(Every patient is a real training that goes wrong in one way. It is trained, diagnosed, treated by the
remedies of its own report, and trained again. Its runs are kept, and every other verb opens them.

Examples:
  osler gallery                               the patients
  osler gallery vanishing-sigmoid             one patient, from story to lesson
  osler gallery healthy-digits --set lr=10    a training of your own: any recipe, spoiled as you like
  osler gallery --knobs                       what --set can change
  osler gallery lr-too-low --probe lr-range   test its training, and see the curve
  osler gallery --quiz                        see the curves, guess the illness
  osler gallery --all --seeds 3 --json        the whole gallery, as a table for programs
  osler diagnose osler-gallery/vanishing-sigmoid.osler

Exit codes: 0 every patient was diagnosed and cured as its page says, 1 one was not, 2 cannot run. With --set: 0 when
nothing is wrong or it was cured, 1 otherwise. With --probe: 1 when a probe failed, 2 when one was stopped.)";

struct Arguments {
  std::vector<std::string> ids;
  std::vector<std::string> settings;
  std::vector<std::string> probes;
  std::string runs = "osler-gallery";
  std::string digits;
  std::string page;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool all = false;
  bool json = false;
  bool knobs = false;
  bool quiz = false;
  bool seed_given = false;
  std::string progress;
  bool no_treatment = false;
  Look look;
};

/// Where the MNIST files are: as told, or beside the program.
fs::path digits_of(const Arguments& arguments) {
  return arguments.digits.empty() ? digits_folder() : fs::path(arguments.digits);
}

Result<std::vector<Patient>> chosen(const Arguments& arguments) {
  std::vector<Patient> patients;
  std::vector<std::string> known;
  for (const auto& row : gallery::patients()) {
    known.emplace_back(row.descriptor.id);
    if (arguments.all) patients.push_back(row.descriptor);
  }
  for (const std::string& id : arguments.ids) {
    const Patient* patient = gallery::find_patient(id);
    if (patient == nullptr) {
      return Error{ErrorCode::not_found, fmt::format("no patient '{}'{}", id, did_you_mean(id, known)), "gallery"};
    }
    patients.push_back(*patient);
  }
  for (Patient& patient : patients) {
    for (const std::string& setting : arguments.settings) {
      const std::size_t cut = setting.find('=');
      if (cut == std::string::npos) {
        return Error{ErrorCode::invalid_argument, "'" + setting + "' is not NAME=VALUE", "--set"};
      }
      if (auto done = gallery::set(patient.recipe, setting.substr(0, cut), setting.substr(cut + 1)); !done) {
        return Error{done.error().code, done.error().message, "--set"};
      }
    }
  }
  return patients;
}

/// One line on standard error that says what goes on.
class Ticker {
 public:
  explicit Ticker(std::string name) : name_(std::move(name)), shown_(can_show_progress()) {}
  ~Ticker() { clear(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void phase(std::string_view phase) { phase_ = phase; }
  void update(const gallery::Progress& progress) {
    constexpr std::int64_t kEvery = 10;
    if (!shown_ || (progress.step % kEvery != 0 && progress.step != progress.steps)) return;
    constexpr std::int64_t kCells = 24;
    const std::int64_t full = kCells * progress.step / std::max<std::int64_t>(1, progress.steps);
    print_error(fmt::format("\r\x1b[K{}  {:9} [{:<24}] step {} of {}  loss {:.4g}", name_, phase_,
                            std::string(static_cast<std::size_t>(full), '='), progress.step, progress.steps,
                            progress.loss));
    drawn_ = true;
  }
  void update(const gallery::ProbeProgress& progress) {
    constexpr std::int64_t kEvery = 10;
    if (!shown_ || (progress.passes % kEvery != 0 && progress.passes != 1)) return;
    const double left = gallery::seconds_left(progress);
    print_error(fmt::format("\r\x1b[K{}  {}: pass {} of about {}{}", name_, progress.name, progress.passes,
                            std::max(progress.expected, progress.passes),
                            left >= 1 ? fmt::format(", about {:.0f} s left", left) : ""));
    drawn_ = true;
  }
  void line(const std::string& text) {
    if (!shown_) return;
    clear();
    print_error(text + "\n");
  }

 private:
  void clear() {
    if (drawn_) print_error("\r\x1b[K");
    drawn_ = false;
  }

  std::string name_;
  std::string phase_;
  bool shown_;
  bool drawn_ = false;
};

Result<Made> make_visit(const Patient& patient, std::uint64_t seed, const Arguments& arguments,
                        const gallery::Trainer& trainer, std::stop_token stop) {
  Ticker ticker(std::string(patient.id));
  VisitOptions options;
  const auto probes = probes_named(arguments.probes);
  if (!probes) return probes.error();
  options.training.probes = *probes;
  options.training.on_probe = [&](const gallery::ProbeProgress& progress) { ticker.update(progress); };
  options.own = is_own(patient);
  options.treat = !arguments.no_treatment && probes->empty();
  options.training.seed = seed;
  options.training.name = patient.id;
  options.training.digits = digits_of(arguments);
  if (!arguments.runs.empty()) {
    const std::string ending = arguments.seeds > 1 ? fmt::format("-{}.osler", seed) : ".osler";
    options.training.run_file = fs::path(arguments.runs) / (std::string(patient.id) + ending);
  }
  options.training.stop = std::move(stop);
  options.training.on_progress = [&](const gallery::Progress& progress) { ticker.update(progress); };
  options.training.on_line = [&](const std::string& line) { ticker.line(line); };
  options.on_phase = [&](std::string_view phase) { ticker.phase(phase); };
  auto visit = gallery::visit(patient, trainer, options);
  if (!visit) return visit.error();
  return Made{&patient, std::move(*visit)};
}

/// Runs of an earlier visit would be appended to.
Result<void> prepare_folder(const std::string& runs, const std::vector<Patient>& patients) {
  if (runs.empty()) return {};
  std::error_code problem;
  fs::create_directories(runs, problem);
  if (problem) return Error{ErrorCode::io, problem.message(), runs};
  for (const auto& entry : fs::directory_iterator(runs, problem)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::any_of(patients.begin(), patients.end(), [&](const Patient& patient) {
      return name.rfind(std::string(patient.id), 0) == 0 && name.find(".osler") != std::string::npos;
    });
    if (ours) fs::remove(entry.path(), problem);
  }
  return {};
}

std::string where_to_look(const Arguments& arguments, const std::vector<Made>& all) {
  if (arguments.runs.empty() || all.empty()) return "";
  const std::string stem = arguments.runs + "/" + std::string(all.front().patient->id);
  std::string text = fmt::format(
      "\nLook closer\n  osler diagnose {0}.osler --verbose\n  osler plot {0}.osler --kind overview\n", stem);
  for (const gallery::ProbeAnswer& answer : all.front().visit.sick.answers) {
    for (const Experiment& experiment : answer.experiments) {
      if (!experiment_figure(experiment)) continue;  // a list, which was printed
      text += fmt::format("  osler plot {}.osler --experiment {}\n", stem, experiment.probe);
    }
  }
  if (all.front().visit.treated) text += fmt::format("  osler compare {0}.osler {0}-treated.osler\n", stem);
  return text + fmt::format("  osler serve {}\n", arguments.runs);
}

int worst_of(const std::vector<Made>& all) {
  int code = kFine;
  for (const Made& made : all) code = std::max(code, exit_code_of(made.visit.sick.answers));
  return code;
}

int run_visits(const Arguments& arguments, const gallery::Trainer& trainer) {
  const auto patients = chosen(arguments);
  if (!patients) {
    complain(patients.error());
    return kCannotJudge;
  }
  if (const auto known = probes_named(arguments.probes); !known) {
    complain(known.error());
    return kCannotJudge;
  }
  if (auto ready = prepare_folder(arguments.runs, *patients); !ready) {
    complain(ready.error());
    return kCannotJudge;
  }
  const TextOptions options = text_options(arguments.look);
  const bool one_by_one = !arguments.json && !arguments.all;
  const Interrupt interrupt;
  std::vector<Made> all;
  bool failed = false;
  for (const Patient& patient : *patients) {
    for (int i = 0; i < arguments.seeds && !interrupt.happened(); ++i) {
      if (one_by_one && !print(show_story(patient, options) + "\n")) return kCannotJudge;
      auto made =
          make_visit(patient, arguments.seed + static_cast<std::uint64_t>(i), arguments, trainer, interrupt.token());
      if (!made) {
        complain(made.error());
        failed = true;
        continue;
      }
      if (made->visit.sick.drawn_digits && all.empty()) {
        complain("no MNIST files here: digits are drawn instead");
      }
      all.push_back(std::move(*made));
      if (one_by_one && !print(show_report(all.back(), options) + "\n" + show_outcome(all.back(), options) +
                               show_answers(all.back().visit.sick.answers, options))) {
        return kCannotJudge;
      }
    }
  }
  std::string end = one_by_one ? where_to_look(arguments, all) : show_table(all, options);
  if (arguments.json) end = table_json(all);
  if (!arguments.page.empty() && !interrupt.happened()) {
    const std::string command =
        fmt::format("osler gallery --all --seeds {} --page {}", arguments.seeds, arguments.page);
    if (auto done = write_page(all, arguments.page, command); !done) {
      complain(done.error());
      return kCannotJudge;
    }
  }
  if (!print(end) || failed || interrupt.happened()) return kCannotJudge;
  if (!arguments.probes.empty()) return worst_of(all);
  return std::all_of(all.begin(), all.end(), as_expected) ? kFine : kSick;
}

/// About the patients that were named, or about all of them.
int ask_quiz(Arguments arguments, const gallery::Trainer& trainer, const TextOptions& options) {
  arguments.all = arguments.ids.empty();
  auto patients = chosen(arguments);
  if (!patients) {
    complain(patients.error());
    return kCannotJudge;
  }
  QuizOptions quiz;
  quiz.look = options;
  quiz.digits = digits_of(arguments);
  quiz.seed = arguments.seed;
  quiz.order = arguments.seed_given ? arguments.seed : std::random_device{}();
  quiz.progress = arguments.progress;
  return run_quiz(std::move(*patients), trainer, quiz, std::cin);
}

int run_chosen(const Arguments& arguments, const gallery::Trainer& trainer) {
  const TextOptions options = text_options(arguments.look);
  if (arguments.knobs) return print(show_knobs(options)) ? kFine : kCannotJudge;
  if (arguments.quiz) return ask_quiz(arguments, trainer, options);
  if (arguments.ids.empty() && !arguments.all) return print(show_list(options)) ? kFine : kCannotJudge;
  return run_visits(arguments, trainer);
}

void add_options(CLI::App& program, Arguments& arguments) {
  program.footer(probes_help() + "\n" + kFooter);
  program.add_option("ID", arguments.ids, "Patients to visit; without any, the list")->type_name("");
  program.add_flag("--all", arguments.all, "Every patient");
  program.add_option("--set", arguments.settings, "Change the recipe first: lr=0.1; see --knobs")
      ->type_name("NAME=VALUE");
  program.add_option("--probe", arguments.probes, "Run a test on the training instead of treating it")
      ->type_name("NAME")
      ->allow_extra_args(false);
  program
      .add_option("--seed", arguments.seed, "The first seed; with --quiz also the order, which is random without it")
      ->type_name("N")
      ->capture_default_str()
      ->each([&arguments](const std::string&) { arguments.seed_given = true; });
  program.add_option("--seeds", arguments.seeds, "Train each patient with so many seeds")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  program.add_option("--runs", arguments.runs, "Keep the runs here; '' keeps none")
      ->type_name("DIR")
      ->capture_default_str();
  program.add_option("--digits", arguments.digits, "The folder of the MNIST files")->type_name("DIR");
  program.add_flag("--no-treatment", arguments.no_treatment, "Diagnose only");
  program.add_option("--page", arguments.page, "Write a page with figures, like docs/gallery.md")->type_name("FILE.md");
  program.add_flag("--json", arguments.json, "Print the table as JSON");
  program.add_flag("--knobs", arguments.knobs, "List what --set can change");
  program.add_flag("--quiz", arguments.quiz, "Show a patient's curves and ask for its illness, if it has one");
  program.add_option("--progress", arguments.progress, "The file in which --quiz keeps the score")->type_name("FILE");
  add_look_options(program, arguments.look);
}

}  // namespace

Command gallery_command() {
  CLI::App program(kDescription, "gallery");
  Arguments wanted;
  add_options(program, wanted);
  return command_tree(program);
}

int run_gallery(int count, const char* const* arguments, const gallery::Trainer& trainer) {
  if (count > 1 && std::string_view(arguments[1]) == "play") return run_play(count - 1, arguments + 1, trainer);
  CLI::App program(kDescription, "osler gallery");
  set_help(program);
  Arguments wanted;
  add_options(program, wanted);
  try {
    program.parse(count, arguments);
    return run_chosen(wanted, trainer);
  } catch (const CLI::Success&) {
    return print(program.help()) ? kFine : kCannotJudge;
  } catch (const CLI::ParseError& error) {
    complain(fmt::format("{}; see: osler gallery --help", error.what()));
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
  }
  return kCannotJudge;
}

}  // namespace osler::cli
