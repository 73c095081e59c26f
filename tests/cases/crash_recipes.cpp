// Cases of runs that were ended by force, and of such that went on.
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

Table falling(simulate::Random& random) {
  Table table(random, 120, 10);
  return table.add(
      "loss", [](double x) { return 0.4 + 2.0 * std::exp(-4.0 * x); }, 0.01);
}

Table out_of_memory(simulate::Random& random) {
  return falling(random).mark("crashed", 1190, "out-of-memory: torch.cuda.OutOfMemoryError: CUDA out of memory.");
}

Table time_limit(simulate::Random& random) {
  return falling(random).mark("crashed", 1190, "time-limit: slurmstepd: error: CANCELLED DUE TO TIME LIMIT");
}

Table traceback(simulate::Random& random) {
  return falling(random).mark("crashed", 1190, "exception: ValueError: expected 3 channels");
}

Table went_on(simulate::Random& random) {
  return falling(random).mark("crashed", 400, "exception: ConnectionError: the tracker was away");
}

Table finished(simulate::Random& random) {
  return falling(random).mark("finished", 1190, "training finished");
}

Table resumed(simulate::Random& random) {
  return falling(random).mark("crashed", 1190, "preempted: the machine was taken").mark("restart", 1190, "resumed");
}

}  // namespace

Recipes crash_recipes() {
  return {
      probed(sick("run-crashed", "memory", "A falling loss, then no memory.", out_of_memory, {"memory-exhausted"})),
      probed(sick("run-crashed", "limit", "A falling loss, then Slurm's limit.", time_limit, {"time-limit-reached"})),
      probed(sick("run-crashed", "traceback", "A falling loss, then a traceback.", traceback, {"program-error"})),
      probed(healthy("run-crashed", "went-on", "An error in the middle from which the program went on.", went_on)),
      probed(healthy("run-crashed", "finished", "It ended by plan.", finished)),
      probed(borderline("run-crashed", "resumed", "Taken away at the last step and resumed.", resumed)),
  };
}

}  // namespace osler::cases
