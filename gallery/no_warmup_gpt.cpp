// no-warmup-gpt: a transformer at full learning rate from the first step.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient no_warmup_gpt() {
  Patient patient;
  patient.id = "no-warmup-gpt";
  patient.title = "A transformer without warm-up";
  patient.story =
      "The schedule was simplified to a constant rate. A transformer without normalisation before its "
      "blocks takes the full rate of Adam at once, while the moments are still guesses.";
  patient.recipe.task = Task::text;
  patient.recipe.model = Model::gpt;
  patient.recipe.depth = 3;
  patient.recipe.width = 16;
  patient.recipe.sequence_length = 24;
  patient.recipe.batch_size = 8;
  patient.recipe.optimizer = Optimizer::rmsprop;
  patient.recipe.lr = 0.03;
  patient.recipe.steps = 250;
  patient.finding = "no-warmup";
  patient.cause = "warmup-missing";
  patient.causes = {"lr-too-high"};
  patient.treatments = {{"Warm up over a tenth of the run and normalise before each block",
                         {{"warmup_steps", "30"}, {"normalization", "layer"}, {"lr", "0.005"}}}};
  patient.recovery.better_by = 0.97;
  patient.lesson =
      "Adam knows the size of the gradients only after some steps. A warm-up over 5 to 10 % of the run lets "
      "it find out.";
  return patient;
}

}  // namespace osler::gallery::ward
