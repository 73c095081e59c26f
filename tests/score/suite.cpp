// Simulated runs as subjects.
#include "score/subject.h"
#include "simulate/simulated_run.h"

namespace osler::score {

std::vector<Subject> suite_subjects(std::size_t count, std::uint64_t seed) {
  const std::span<const simulate::Family> families = simulate::families();
  std::vector<Subject> subjects;
  for (std::size_t i = 0; i < count; ++i) {
    const simulate::Family& family = families[i % families.size()];
    const std::uint64_t member = seed * 1'000'003 + i / families.size();
    Subject subject;
    subject.source = Source::suite;
    subject.name = std::string(family.name) + "/" + std::to_string(member);
    subject.family = family.name;
    subject.load = [&family, member](Subject& self) -> Result<std::vector<Run>> {
      const simulate::SimulatedRun run = simulate::draw(family, member);
      self.truth = run.truth;
      if (!run.truth.causes.empty()) self.planted = {run.truth.causes.front()};
      self.label = run.truth.healthy ? "healthy" : run.truth.finding;
      std::vector<Run> runs;
      runs.push_back(simulate::to_run(run));
      return runs;
    };
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

}  // namespace osler::score
