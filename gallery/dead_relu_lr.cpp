// dead-relu-lr: a learning rate that kills most units in the first steps.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient dead_relu_lr() {
  Patient patient;
  patient.id = "dead-relu-lr";
  patient.title = "A learning rate that kills the units";
  patient.story =
      "Adam with a rate of 0.1: the first steps push whole layers of ReLUs below zero, and what is left of "
      "the network learns what it can.";
  patient.recipe.lr = 0.1;
  patient.finding = "dead-neurons";
  patient.cause = "dead-units";
  patient.causes = {"lr-too-high"};
  patient.treatments = {{"Use the usual rate of Adam", {{"lr", "1e-3"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Dead units late in a run are often the scar of steps that were too long early in it.";
  return patient;
}

}  // namespace osler::gallery::ward
