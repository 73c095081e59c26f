// Diagnoses labelled runs on all cores.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "osler/diagnosis/diagnose.h"
#include "score/subject.h"

namespace osler::score {
namespace {

/// Status from bad to worse, for joining the verdicts on several runs of one log.
int rank(Status status) {
  switch (status) {
    case Status::insufficient_data:
      return 0;
    case Status::healthy:
      return 1;
    case Status::warning:
      return 2;
    case Status::critical:
      return 3;
  }
  return 0;
}

/// Adds what was found in one run; of a finding seen in several runs the most severe stays.
void join(std::vector<Observation>& findings, std::vector<Observation> more) {
  for (Observation& observation : more) {
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const Observation& other) { return other.finding == observation.finding; });
    if (same == findings.end()) {
      findings.push_back(std::move(observation));
    } else if (observation.severity > same->severity) {
      *same = std::move(observation);
    }
  }
}

Outcome examine_one(Subject& subject, const DiagnosisOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.subject = &subject;
  const Result<std::vector<Run>> runs = subject.load(subject);
  if (!runs) outcome.error = runs.error();
  std::size_t most = 0;
  for (std::size_t i = 0; runs && i < runs->size(); ++i) {
    Result<Report> report = diagnose((*runs)[i], options);
    if (!report) {
      outcome.error = report.error();
      continue;
    }
    ++outcome.runs;
    if (outcome.causes.empty() || report->findings.size() > most) outcome.causes = std::move(report->causes);
    most = std::max(most, report->findings.size());
    if (rank(report->status) > rank(outcome.status)) outcome.status = report->status;
    join(outcome.findings, std::move(report->findings));
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace

std::string_view to_string(Source source) {
  switch (source) {
    case Source::corpus:
      return "corpus";
    case Source::population:
      return "population";
    case Source::cases:
      return "cases";
    case Source::suite:
      return "suite";
  }
  return "";
}

std::vector<Outcome> examine(std::vector<Subject>& subjects, const std::vector<std::string>& only) {
  DiagnosisOptions options;
  options.only = only;
  std::vector<Outcome> outcomes(subjects.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < subjects.size(); i = next++) outcomes[i] = examine_one(subjects[i], options);
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  work();
  workers.clear();
  return outcomes;
}

}  // namespace osler::score
