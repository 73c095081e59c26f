// The project's own cases as subjects.
#include "cases/case.h"
#include "osler/formats/read.h"
#include "score/subject.h"

namespace osler::score {
namespace {

Subject to_subject(const cases::Case& expected, const std::string& folder) {
  Subject subject;
  subject.source = Source::cases;
  subject.name = expected.finding + "/" + expected.file;
  subject.family = expected.finding;
  subject.label = std::string(cases::to_string(expected.kind));
  subject.decided = expected.kind != cases::Case::Kind::borderline;
  subject.truth.healthy = expected.kind == cases::Case::Kind::healthy;
  subject.truth.accept = expected.must_report;
  if (!subject.truth.healthy) subject.truth.finding = expected.finding;
  subject.truth.tolerate = expected.tolerate;
  subject.truth.causes = expected.causes;
  if (!expected.causes.empty()) subject.planted = {expected.causes.front()};
  subject.truth.begins = expected.first_step;
  subject.load = [path = folder + "/" + subject.name](Subject&) { return read_runs(path); };
  return subject;
}

}  // namespace

Result<std::vector<Subject>> case_subjects(const std::string& folder) {
  const Result<std::vector<cases::Case>> found = cases::read_cases(folder);
  if (!found) return found.error();
  std::vector<Subject> subjects;
  for (const cases::Case& expected : *found) subjects.push_back(to_subject(expected, folder));
  return subjects;
}

}  // namespace osler::score
