// Visits patients of the gallery and prints a line for each: for many processes at once, which the gallery itself is
// not.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "osler/gallery/patient.h"
#include "osler/gallery/visit.h"
#include "osler/trainer/train.h"

namespace {

std::string causes_of(const osler::Report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.causes.size() && i < 4; ++i) text += " " + report.causes[i].cause;
  return text;
}

std::string findings_of(const osler::Report& report) {
  std::string text;
  for (const osler::Observation& seen : report.findings) {
    text += (seen.severity == osler::Severity::note ? " (" : " ") + seen.finding +
            (seen.severity == osler::Severity::note ? ")" : "");
  }
  return text;
}

}  // namespace

/// osler_visits SEED DIGITS [ID...] [KNOB=VALUE...]; without ids, all. Knobs change the sick training.
int main(int count, char** arguments) {
  using namespace osler;
  if (count < 3) return 2;
  for (const auto& row : gallery::patients()) {
    const gallery::Patient& patient = row.descriptor;
    bool named = false;
    bool wanted = false;
    for (int i = 3; i < count; ++i) {
      named = named || std::string_view(arguments[i]).find('=') == std::string_view::npos;
      wanted = wanted || patient.id == arguments[i];
    }
    wanted = wanted || !named;
    if (!wanted) continue;
    gallery::VisitOptions options;
    options.training.seed = std::strtoull(arguments[1], nullptr, 10);
    options.training.digits = arguments[2];
    gallery::Patient changed = patient;
    for (int i = 3; i < count; ++i) {
      const std::string argument = arguments[i];
      const auto equals = argument.find('=');
      if (equals == std::string::npos) continue;
      if (const auto done = gallery::set(changed.recipe, argument.substr(0, equals), argument.substr(equals + 1));
          !done) {
        std::printf("%s\n", describe(done.error()).c_str());
        return 2;
      }
    }
    const auto visit = gallery::visit(changed, osler::trainer::train, options);
    if (!visit) {
      std::printf("%s\t%s\tERROR %s\n", std::string(patient.id).c_str(), arguments[1], describe(visit.error()).c_str());
      continue;
    }
    const long rank = visit->cause_rank ? static_cast<long>(*visit->cause_rank) + 1 : 0;
    std::printf(
        "%s\t%s\t%s\tfound=%d\trank=%ld\trecovered=%d\tby=%s\t%.1fs\t|%s |%s | %s\n", std::string(patient.id).c_str(),
        arguments[1], patient.healthy() ? (visit->clean ? "clean" : "ALARM") : "sick", visit->finding_seen ? 1 : 0,
        rank, visit->recovered ? 1 : 0, visit->prescribed ? "patient" : "report", visit->sick.seconds,
        findings_of(visit->sick.report).c_str(), causes_of(visit->sick.report).c_str(), visit->not_recovered.c_str());
    std::fflush(stdout);
  }
}
