// batch-too-large: the whole training set in one batch, at the rate of a small one.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient batch_too_large() {
  Patient patient;
  patient.id = "batch-too-large";
  patient.title = "A batch of a thousand at the learning rate of a small one";
  patient.story =
      "A large machine was free, so the batch was made as large as would fit and the rate was left alone. A "
      "step costs many times as much and goes no farther than before.";
  patient.recipe.batch_size = 1000;
  patient.recipe.samples = 1000;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.004;
  patient.recipe.init_gain = 0.5;
  patient.recipe.depth = 2;
  patient.recipe.width = 32;
  patient.recipe.steps = 220;
  patient.finding = "loss-too-slow";
  patient.cause = "batch-too-large";
  patient.causes = {"lr-too-low"};
  patient.treatments = {{"Scale the rate with the batch", {{"lr", "0.05"}}}};
  patient.recovery.better_by = 0.7;
  patient.lesson =
      "A larger batch pays only when the rate grows with it: in proportion for SGD, with the root for Adam.";
  return patient;
}

}  // namespace osler::gallery::ward
