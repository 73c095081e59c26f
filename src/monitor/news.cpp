// When to diagnose.
#include "monitor/news.h"

#include <algorithm>
#include <array>
#include <utility>

#include "monitor/clock.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::monitor {
namespace {

constexpr double kSecondsBetween = 5;
/// After so many steps: when the first looks are over, and when findings have it that ask for more of them.
constexpr std::array<std::int64_t, 2> kEarly = {Spending::kFirstSteps, 2 * Spending::kFirstSteps};

}  // namespace

News::News(std::int64_t every) : every_(every), newest_(now()) {}

bool News::due(std::int64_t step, std::int64_t seen, const Spending& spending) {
  if (every_ != 0) return every_ > 0 && (step + 1) % every_ == 0;
  early_ = spending.early_left() && std::any_of(kEarly.begin(), kEarly.end(), [&](std::int64_t steps) {
             return newest_seen_ < steps && seen >= steps;
           });
  return early_ || (now() - newest_ > kSecondsBetween && spending.diagnosis.affords());
}

bool News::due_after_validation(const Spending& spending) {
  early_ = every_ == 0 && !std::exchange(validated_, true) && spending.early_left();
  return early_;
}

std::vector<Observation> News::take(Recorder& recorder, std::int64_t seen, Spending& spending) {
  const double before = now();
  std::vector<Observation> fresh;
  recorder.visit([&](const Run& run) {
    const Result<Report> report = diagnose(run);
    if (!report) return;
    if (auto reason = judge_.look(*report, run); reason && !hopeless_) hopeless_ = std::move(reason);
    for (const Observation& observation : report->findings) {
      const auto [at, first] = told_.emplace(observation.finding, observation.severity);
      if (!first && at->second >= observation.severity) continue;
      at->second = observation.severity;
      fresh.push_back(observation);
    }
  });
  newest_seen_ = seen;
  newest_ = now();
  spending.spend(spending.diagnosis, newest_ - before, std::exchange(early_, false));
  return fresh;
}

}  // namespace osler::monitor
