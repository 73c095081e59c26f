// healthy-regression: a small network that learns a smooth function.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_regression() {
  Patient patient;
  patient.id = "healthy-regression";
  patient.title = "A small network learns a smooth function";
  patient.story = "Two hidden layers, the mean squared error, Adam. Nothing is wrong.";
  patient.recipe.task = Task::regression;
  patient.recipe.depth = 2;
  patient.recipe.lr = 0.003;
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.min_lr = 0.0003;
  return patient;
}

}  // namespace osler::gallery::ward
