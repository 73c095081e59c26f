// healthy-one-cycle: the one-cycle schedule, whose loss may rise while the rate does.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_one_cycle() {
  Patient patient;
  patient.id = "healthy-one-cycle";
  patient.title = "One cycle of the learning rate";
  patient.story =
      "The rate climbs to its peak for a third of the run and comes down to nothing. The loss is restless while the "
      "rate is high and settles when it falls, as it should.";
  patient.recipe.schedule = Schedule::one_cycle;
  patient.recipe.lr = 5e-3;
  return patient;
}

}  // namespace osler::gallery::ward
