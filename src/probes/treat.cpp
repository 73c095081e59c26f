// Trying remedies and keeping what helps.
#include "osler/probes/treat.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace osler::probes {
namespace {

/// Whether the report leads with a finding that matters, and which.
std::string leading_finding(const Report& report) {
  return report.findings.empty() || report.findings.front().severity == Severity::note
             ? std::string()
             : report.findings.front().finding;
}

bool shows(const Report& report, const std::string& finding) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const Observation& seen) {
    return seen.finding == finding && seen.severity != Severity::note;
  });
}

/// A loss that is no number is worse than any.
double comparable(double loss) {
  return std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
}

class Treating {
 public:
  Treating(const Forks& forks, const TreatOptions& options, std::string finding)
      : forks_(forks), options_(options), finding_(std::move(finding)), best_(forks.run({})) {
    cure_.untreated = best_.loss;
  }

  [[nodiscard]] bool may_try() const { return cure_.trials.size() < options_.trials; }

  void attempt(const WeighedCause& cause, const Remedy& remedy) {
    if (!remedy.change || !forks_.can_apply(*remedy.change)) {
      cure_.for_a_person.push_back(remedy.text);
      return;
    }
    const bool again = std::any_of(cure_.trials.begin(), cure_.trials.end(), [&](const Trial& trial) {
      return trial.change.name == remedy.change->name && trial.change.to == remedy.change->to;
    });
    if (again) return;
    Changes changes = cure_.kept;
    changes.push_back(*remedy.change);
    Fork fork = forks_.run(changes);
    Trial trial{cause.cause, remedy.text, *remedy.change, best_.loss, fork.loss, false, {}};
    decide(trial, fork, gone(cause, fork));
    if (trial.kept) {
      cure_.kept = std::move(changes);
      best_ = std::move(fork);
    }
    cure_.trials.push_back(std::move(trial));
  }

  Cure finish() {
    cure_.treated = best_.loss;
    return std::move(cure_);
  }

 private:
  /// The finding that a fork no longer shows: the one the report leads with, or one that speaks for the cause.
  [[nodiscard]] std::string gone(const WeighedCause& cause, const Fork& fork) const {
    std::vector<std::string> candidates = {finding_};
    for (const Reason& reason : cause.speaks_for) candidates.push_back(reason.finding);
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& finding) {
      return shows(best_.report, finding) && !shows(fork.report, finding);
    });
    return found != candidates.end() ? *found : std::string();
  }

  void decide(Trial& trial, const Fork& fork, const std::string& gone) const {
    const double before = comparable(best_.loss);
    const double after = comparable(fork.loss);
    const double margin = std::isfinite(before) ? options_.improvement * std::fabs(before) : 0;
    if (after < before - margin) {
      trial.kept = true;
      trial.why = std::isfinite(before) ? "the loss falls" : "the loss is finite";
    } else if (!gone.empty() && after <= before + margin) {
      trial.kept = true;
      trial.why = gone + " is gone and the loss is no worse";
    } else if (after > before + margin) {
      trial.why = "the loss is worse";
    } else {
      trial.why = "no clear difference";
    }
  }

  const Forks& forks_;
  const TreatOptions& options_;
  std::string finding_;
  Fork best_;
  Cure cure_;
};

}  // namespace

Cure treat(const Report& report, const Forks& forks, const TreatOptions& options) {
  Treating treating(forks, options, leading_finding(report));
  const std::size_t causes = std::min(options.causes, report.causes.size());
  for (std::size_t i = 0; i < causes; ++i) {
    for (const Remedy& remedy : report.causes[i].remedies) {
      if (!treating.may_try()) return treating.finish();
      treating.attempt(report.causes[i], remedy);
    }
  }
  return treating.finish();
}

}  // namespace osler::probes
