// model-too-small: one unit where many are needed.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient model_too_small() {
  Patient patient;
  patient.id = "model-too-small";
  patient.title = "A network too narrow for its task";
  patient.story =
      "The model had to be tiny to run on a small device. One unit cannot tell ten clouds of points apart: "
      "training and validation loss go flat, high and close together.";
  patient.recipe.task = Task::clouds;
  patient.recipe.samples = 8000;
  patient.recipe.width = 1;
  patient.recipe.depth = 1;
  patient.recipe.lr = 0.05;
  patient.recipe.activation = Activation::gelu;
  patient.recipe.steps = 2000;
  patient.finding = "underfitting";
  patient.cause = "model-too-small";
  patient.treatments = {{"Make the layers wider", {{"width", "64"}, {"lr", "0.001"}}}};
  patient.recovery.better_by = 0.9;
  patient.lesson =
      "When training and validation loss are flat, high and the same, the model has learned what it can "
      "hold.";
  return patient;
}

}  // namespace osler::gallery::ward
