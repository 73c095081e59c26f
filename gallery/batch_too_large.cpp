// batch-too-large: the whole training set in one batch, at the rate of a small one.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient batch_too_large() {
  Patient patient;
  patient.id = "batch-too-large";
  patient.title = "A batch of two thousand at the learning rate of a small one";
  patient.story =
      "A large machine was free, so the batch was made as large as would fit and the rate was left alone. A "
      "step costs thirty times as much and goes as far as before.";
  patient.recipe.batch_size = 2000;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.002;
  patient.recipe.steps = 150;
  patient.finding = "loss-too-slow";
  patient.cause = "batch-too-large";
  patient.causes = {"lr-too-low"};
  patient.treatments = {
      {"Use batches of 64 and scale the steps", {{"batch_size", "64"}, {"lr", "0.1"}, {"steps", "400"}}}};
  patient.recovery.better_by = 0.7;
  patient.lesson =
      "A larger batch pays only when the rate grows with it: in proportion for SGD, with the root for Adam.";
  return patient;
}

}  // namespace osler::gallery::ward
