// attention-collapsed: attention weights drawn four times too large.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient attention_collapsed() {
  Patient patient;
  patient.id = "attention-collapsed";
  patient.title = "Attention that looks at one letter only";
  patient.story =
      "All matrices of the transformer were drawn with a size of 0.7. Queries and keys of that size give "
      "scores in the hundreds, so each softmax picks a single letter and passes no gradient.";
  patient.recipe.task = Task::text;
  patient.recipe.model = Model::gpt;
  patient.recipe.depth = 2;
  patient.recipe.width = 16;
  patient.recipe.sequence_length = 24;
  patient.recipe.batch_size = 8;
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 0.7;
  patient.recipe.lr = 0.003;
  patient.recipe.steps = 250;
  patient.finding = "attention-entropy-collapse";
  patient.cause = "bad-initialization";
  patient.causes = {"exploding-signal"};
  patient.treatments = {{"Initialise by Xavier's rule and normalise before each block",
                         {{"init", "xavier"}, {"normalization", "layer"}}}};
  patient.recovery.better_by = 0.5;
  patient.lesson =
      "A softmax over large scores is an argmax: it has no gradient. Keep queries and keys at size 1 at the "
      "start.";
  return patient;
}

}  // namespace osler::gallery::ward
