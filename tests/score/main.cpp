// osler_score: how often is Osler right? Diagnoses labelled runs and counts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "score/calibrate.h"
#include "score/floor.h"
#include "score/margins.h"
#include "score/print.h"
#include "score/ranges.h"

namespace osler::score {
namespace {

struct Options {
  std::vector<std::string> corpora;
  std::string unpacked;
  std::vector<std::string> populations;
  std::string cases = OSLER_CASES;
  std::size_t suite = 600;
  std::uint64_t seed = 1;
  std::vector<std::string> sources;
  std::vector<std::string> parts;
  std::vector<std::string> families;
  std::vector<std::string> only;
  std::string fold;
  bool skip_fold = false;
  std::string markdown;
  std::string floor;
  std::string write_floor;
  std::string calibrate;
  std::string learn_ranges;
  std::string learn_margins;
  bool prognosis = false;
  bool json = false;
  PrintOptions print;
};

/// Whether a run is scored, given --part, --family and --fold.
bool chosen(const Subject& subject, const Options& options) {
  const std::string& family = subject.family;
  if (!options.parts.empty() &&
      std::find(options.parts.begin(), options.parts.end(), subject.part) == options.parts.end()) {
    return false;
  }
  if (!options.families.empty() &&
      std::none_of(options.families.begin(), options.families.end(),
                   [&](const std::string& part) { return family.find(part) != std::string::npos; })) {
    return false;
  }
  if (options.fold.empty()) return true;
  const std::size_t slash = options.fold.find('/');
  const std::size_t fold = std::stoul(options.fold.substr(0, slash));
  const std::size_t folds = std::stoul(options.fold.substr(slash + 1));
  return (stable_hash(family) % folds + 1 == fold) != options.skip_fold;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--corpus", options.corpora, "folder with labels.jsonl and the logs it names; may be repeated");
  app.add_option("--unpacked", options.unpacked, "folder of logs that a corpus keeps packed");
  app.add_option("--population", options.populations,
                 "folder with meta.jsonl and runs/, or a file of packed runs; may be repeated");
  app.add_option("--cases", options.cases, "folder of the project's own cases")->capture_default_str();
  app.add_option("--suite", options.suite, "how many simulated runs to draw; 0: none")->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the simulated runs")->capture_default_str();
  app.add_option("--source", options.sources, "score only these: corpus, population, cases, suite")
      ->check(CLI::IsMember({"corpus", "population", "cases", "suite"}));
  app.add_option("--part", options.parts, "score only these parts: learn or left-out, or a corpus by its folder");
  app.add_option("--family", options.families, "score only families (repositories) whose name contains one of these");
  app.add_option("--only", options.only, "check only these findings");
  app.add_option("--fold", options.fold, "I/N: deal the families into N folds, score only the I-th")
      ->check([](const std::string& text) {
        unsigned fold = 0;
        unsigned folds = 0;
        const bool good = std::sscanf(text.c_str(), "%u/%u", &fold, &folds) == 2 && fold >= 1 && fold <= folds;
        return good ? std::string() : "expected I/N with 1 <= I <= N, for example 2/5";
      });
  app.add_flag("--skip-fold", options.skip_fold, "with --fold: score all folds but that one");
  app.add_flag("--by-family", options.print.by_family, "also list the score per family (per repository)");
  app.add_flag("--verbose", options.print.verbose, "list every run, not only those that came out wrong");
  app.add_flag("--json", options.json, "write everything as JSON");
  app.add_option("--write,--markdown", options.markdown, "also write the page docs/accuracy.md to this file");
  app.add_option("--floor", options.floor, "exit with 1 when a figure falls short of its floor in this JSON file");
  app.add_option("--write-floor", options.write_floor, "write the figures of this score as new floors");
  app.add_option("--learn-ranges", options.learn_ranges,
                 "learn what is usual among healthy runs and write src/diagnosis/reference_table.cpp to this file");
  app.add_option("--learn-margins", options.learn_margins,
                 "learn how far forecasts of a loss hold and write src/diagnosis/prognosis_table.cpp to this file");
  app.add_flag("--prognosis", options.prognosis,
               "cut healthy runs short and count how often the rest came out as foretold, families left out in turn");
  app.add_option("--calibrate", options.calibrate,
                 "fit the confidences anew and write src/diagnosis/calibration_table.cpp to this file");
}

/// The runs to be scored, and what was asked for and is not there.
struct Collected {
  std::vector<Subject> subjects;
  std::vector<std::string> absent;
};

Result<Collected> collect(const Options& options) {
  namespace fs = std::filesystem;
  Collected all;
  const auto wanted = [&](const char* name) {
    return options.sources.empty() ||
           std::find(options.sources.begin(), options.sources.end(), name) != options.sources.end();
  };
  const auto append = [&](Result<std::vector<Subject>> more) -> std::optional<Error> {
    if (!more) return more.error();
    for (Subject& subject : *more) {
      if (chosen(subject, options)) all.subjects.push_back(std::move(subject));
    }
    return std::nullopt;
  };
  const auto there = [&](const std::string& source, const fs::path& path, const fs::path& index) {
    const bool found = fs::exists(path / index) || fs::is_regular_file(path);
    if (!found) all.absent.push_back(source + ": there is no " + (path / index).string());
    return found;
  };
  std::optional<Error> error;
  for (const std::string& folder : options.corpora) {
    if (error || !wanted("corpus") || !there("corpus", folder, "labels.jsonl")) continue;
    error = append(corpus_subjects(folder, options.unpacked));
  }
  for (const std::string& path : options.populations) {
    if (error || !wanted("population") || !there("population", path, "meta.jsonl")) continue;
    error = append(population_subjects(path));
  }
  if (wanted("corpus") && options.corpora.empty()) all.absent.emplace_back("corpus: no --corpus given");
  if (wanted("population") && options.populations.empty()) {
    all.absent.emplace_back("population: no --population given; make population trains one");
  }
  if (!error && wanted("cases") && there("cases", options.cases, "")) error = append(case_subjects(options.cases));
  if (!error && wanted("suite")) error = append(suite_subjects(options.suite, options.seed));
  if (error) return *error;
  return all;
}

constexpr const char* kPageHead =
    "# How often Osler is right\n\n"
    "Written by `osler_score --write` (`make score`); do not edit. Each run has a label: sick or healthy, the "
    "findings\n"
    "that are right, and where it is known the cause. A sick run is **found** when a finding that is right is "
    "reported\n"
    "as a warning or worse. Notes never count as found: to its reader, a report with nothing but notes says that the\n"
    "run is healthy. On a healthy run, any other warning is a **false alarm**, and a note is noise. A run **begins "
    "where\n"
    "it truly did** when the first step is off by at most a tenth of its length. Intervals are Wilson's, at 95 %. The\n"
    "expected calibration error compares what is said (the confidence of warnings, the probability of the first three\n"
    "causes) with how often it is right.\n\n"
    "Earlier editions of this page counted notes as found. Those figures are withdrawn.\n\n";

constexpr std::size_t kFolds = 5;

/// Says what fell short of the floors; the exit code of the program.
int check_floors(const Options& options, const nlohmann::json& figures) {
  if (options.floor.empty()) return 0;
  const Result<std::vector<std::string>> found = shortfalls(figures, options.floor);
  if (!found) {
    std::cerr << "osler_score: " << describe(found.error()) << "\n";
    return 2;
  }
  for (const std::string& line : *found) std::cerr << "osler_score: below the floor: " << line << "\n";
  return found->empty() ? 0 : 1;
}

/// Everything that is written about a set of outcomes.
struct Account {
  std::string text;
  std::string page;
  nlohmann::json json;
  nlohmann::json figures;
};

void tell_source(Account& account, Source source, const std::vector<const Outcome*>& outcomes,
                 const PrintOptions& print) {
  const std::string name(to_string(source));
  account.figures[name] = floor_figures(tally(outcomes));
  for (const auto& [part, of_part] : parts_of(outcomes))
    account.figures[name + "/" + part] = floor_figures(tally(of_part));
  account.page += as_markdown(source, outcomes);
  account.json[name] = as_json(outcomes);
  account.text += as_text(source, outcomes, print) + "\n";
}

Account tell(const std::vector<Outcome>& outcomes, const std::vector<std::string>& absent, const PrintOptions& print) {
  Account account;
  account.page = kPageHead;
  std::vector<const Outcome*> all;
  for (const Source source : {Source::corpus, Source::population, Source::cases, Source::suite}) {
    std::vector<const Outcome*> of_source;
    for (const Outcome& outcome : outcomes) {
      if (outcome.subject->source == source) of_source.push_back(&outcome);
    }
    all.insert(all.end(), of_source.begin(), of_source.end());
    if (!of_source.empty()) tell_source(account, source, of_source, print);
  }
  const std::vector<ReliabilityBin> bins = cross_validated(all, kFolds);
  account.text += "families left out of the fit of confidences (" + std::to_string(kFolds) + " folds):\n" +
                  reliability_text("findings", bins);
  account.page += "## Confidences of families left out of the fit\n\n" + reliability_markdown(bins);
  account.json["absent"] = absent;
  for (const std::string& line : absent) {
    account.text += "not scored: " + line + "\n";
    account.page += "Not scored: " + line.substr(0, line.find(':')) + ".\n";
  }
  return account;
}

int score(const Options& options) {
  Result<Collected> collected = collect(options);
  if (!collected) {
    std::cerr << "osler_score: " << describe(collected.error()) << "\n";
    return 2;
  }
  if (!options.learn_ranges.empty()) {
    std::ofstream(options.learn_ranges) << ranges_source(learn_from(collected->subjects));
    return 0;
  }
  if (!options.learn_margins.empty() || options.prognosis) {
    const std::vector<CutRun> cuts = cut_runs(collected->subjects);
    if (options.prognosis) std::cout << coverage_text(cuts, kFolds);
    if (!options.learn_margins.empty()) std::ofstream(options.learn_margins) << margins_source(learn_margins(cuts));
    return 0;
  }
  const std::vector<Outcome> outcomes = examine(collected->subjects, options.only);
  const Account account = tell(outcomes, collected->absent, options.print);
  std::cout << (options.json ? account.json.dump(1) + "\n" : account.text);
  if (!options.calibrate.empty()) {
    std::vector<const Outcome*> all;
    for (const Outcome& outcome : outcomes) all.push_back(&outcome);
    std::ofstream(options.calibrate) << calibration_source(calibrate(all));
  }
  if (!options.markdown.empty()) std::ofstream(options.markdown) << account.page;
  if (!options.write_floor.empty()) std::ofstream(options.write_floor) << account.figures.dump(2) << "\n";
  return check_floors(options, account.figures);
}

}  // namespace
}  // namespace osler::score

int main(int argc, char** argv) {
  CLI::App app{
      "Scores Osler on labelled runs: real logs, trainings with planted faults, the project's cases, simulations."};
  osler::score::Options options;
  osler::score::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return osler::score::score(options);
}
