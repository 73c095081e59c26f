// osler_score: how often is Osler right? Diagnoses labelled runs and counts.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "score/calibrate.h"
#include "score/floor.h"
#include "score/learn.h"
#include "score/print.h"

namespace osler::score {
namespace {

struct Options {
  std::string corpus;
  std::string cases = OSLER_SOURCE_DIR "/tests/cases";
  std::size_t suite = 600;
  std::uint64_t seed = 1;
  std::vector<std::string> sources;
  std::vector<std::string> families;
  std::vector<std::string> only;
  std::string fold;
  bool skip_fold = false;
  std::string markdown;
  std::string floor;
  std::string write_floor;
  std::string calibrate;
  std::string learn;
  bool json = false;
  PrintOptions print;
};

/// Whether a family is scored, given --family and --fold.
bool chosen(const std::string& family, const Options& options) {
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
  app.add_option("--corpus", options.corpus, "folder with labels.jsonl and the logs it names");
  app.add_option("--cases", options.cases, "folder of the project's own cases")->capture_default_str();
  app.add_option("--suite", options.suite, "how many simulated runs to draw; 0: none")->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the simulated runs")->capture_default_str();
  app.add_option("--source", options.sources, "score only these: corpus, cases, suite")
      ->check(CLI::IsMember({"corpus", "cases", "suite"}));
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
  app.add_option("--calibrate", options.calibrate,
                 "fit the confidences anew and write src/diagnosis/calibration_table.cpp to this file");
  app.add_option("--learn", options.learn,
                 "learn the weights of the causes anew and write src/diagnosis/pull_weights_table.cpp to this file");
}

Result<std::vector<Subject>> collect(const Options& options) {
  const auto wanted = [&](const char* name) {
    return options.sources.empty() ||
           std::find(options.sources.begin(), options.sources.end(), name) != options.sources.end();
  };
  std::vector<Subject> subjects;
  const auto append = [&](std::vector<Subject> more) {
    for (Subject& subject : more) {
      if (chosen(subject.family, options)) subjects.push_back(std::move(subject));
    }
  };
  if (wanted("corpus") && !options.corpus.empty()) {
    Result<std::vector<Subject>> found = corpus_subjects(options.corpus);
    if (!found) return found.error();
    append(std::move(*found));
  }
  if (wanted("cases") && std::filesystem::exists(options.cases)) {
    Result<std::vector<Subject>> found = case_subjects(options.cases);
    if (!found) return found.error();
    append(std::move(*found));
  }
  if (wanted("suite")) append(suite_subjects(options.suite, options.seed));
  return subjects;
}

constexpr const char* kPageHead =
    "# How often Osler is right\n\n"
    "Written by `osler_score --write`; do not edit. Each run has a label: the findings that count "
    "as\n"
    "right, those that are true as well, and for simulated runs the cause. A false alarm is a warning or worse on a\n"
    "healthy run that its label does not allow.\n\n";

constexpr std::size_t kFolds = 5;

/// What would be said of families that were not fitted to: confidences and causes.
std::string left_out_text(const std::vector<const Outcome*>& outcomes) {
  std::string text = "families left out of the fit (" + std::to_string(kFolds) + " folds):\n";
  text += reliability_text(cross_validated(outcomes, kFolds));
  const CauseScore stated = stated_causes(outcomes);
  const CauseScore learned = cross_validated_causes(outcomes, LearnOptions(), kFolds);
  return text + causes_text("weights as the causes' files state them", stated) +
         causes_text("weights learned from the other families", learned);
}

/// Writes the tables that were asked for.
void fit_tables(const Options& options, const std::vector<const Outcome*>& outcomes) {
  if (!options.calibrate.empty()) std::ofstream(options.calibrate) << calibration_source(calibrate(outcomes));
  if (!options.learn.empty()) std::ofstream(options.learn) << weights_source(learn(outcomes, LearnOptions()));
}

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

int score(const Options& options) {
  Result<std::vector<Subject>> subjects = collect(options);
  if (!subjects) {
    std::cerr << "osler_score: " << describe(subjects.error()) << "\n";
    return 2;
  }
  const std::vector<Outcome> outcomes = examine(*subjects, options.only);
  nlohmann::json json;
  nlohmann::json figures;
  std::string page = kPageHead;
  for (const Source source : {Source::corpus, Source::cases, Source::suite}) {
    std::vector<const Outcome*> of_source;
    for (const Outcome& outcome : outcomes) {
      if (outcome.subject->source == source) of_source.push_back(&outcome);
    }
    if (of_source.empty()) continue;
    figures[std::string(to_string(source))] = floor_figures(tally(of_source));
    page += as_markdown(source, of_source);
    if (options.json) {
      json[std::string(to_string(source))] = as_json(of_source);
    } else {
      std::cout << as_text(source, of_source, options.print) << "\n";
    }
  }
  std::vector<const Outcome*> all;
  for (const Outcome& outcome : outcomes) all.push_back(&outcome);
  fit_tables(options, all);
  const std::string left_out = left_out_text(all);
  page += "## Families left out of the fit\n\n```\n" + left_out + "```\n";
  std::cout << (options.json ? json.dump(1) : left_out) << "\n";
  if (!options.markdown.empty()) std::ofstream(options.markdown) << page;
  if (!options.write_floor.empty()) std::ofstream(options.write_floor) << figures.dump(2) << "\n";
  return check_floors(options, figures);
}

}  // namespace
}  // namespace osler::score

int main(int argc, char** argv) {
  CLI::App app{"Scores Osler on labelled runs: the corpus, the project's cases, and simulated trainings."};
  osler::score::Options options;
  osler::score::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return osler::score::score(options);
}
