// healthy-floor: a validation loss that stands still for most of the run, at the height of what the labels cannot tell.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_floor() {
  Patient patient;
  patient.id = "healthy-floor";
  patient.title = "A plateau that is the floor";
  patient.story =
      "Validation has been flat since the first third of the run, and whoever looks at the curve alone wants to do "
      "something about it. But the rate is what it always was, the gradients are, both losses lie together, and three "
      "in "
      "ten labels are drawn from a hat: no network can guess those. Nothing is wrong.";
  patient.recipe.label_noise = 0.3;
  patient.recipe.samples = 20000;
  patient.recipe.width = 32;
  patient.recipe.lr = 5e-4;
  patient.recipe.steps = 1500;
  patient.lesson =
      "Before a plateau is treated, ask how low the loss can be: for labels of which three in ten mean nothing, about "
      "1.2. Not far above it more hours, another rate and a larger network change nothing; better labels would.";
  return patient;
}

}  // namespace osler::gallery::ward
