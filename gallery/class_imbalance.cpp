// class-imbalance: nine samples in ten are of one class.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient class_imbalance() {
  Patient patient;
  patient.id = "class-imbalance";
  patient.title = "Nine in ten are zeros";
  patient.story =
      "The data came from a log in which one class is what happens nearly always. Always answering it is right nine "
      "times in ten, and the training accuracy says so. On data where all classes are as frequent, the answers are "
      "poor.";
  patient.recipe.imbalance = 0.9;
  patient.finding = "class-imbalance";
  patient.also = {"dead-neurons", "overfitting"};
  patient.cause = "class-imbalance";
  patient.treatments = {{"Draw the classes evenly", {{"balanced_sampling", "on"}}}};
  patient.recovery.better_by = 0.97;
  patient.recovery.finding_gone = true;
  patient.lesson =
      "An accuracy of 90 per cent means nothing where one class has 90 per cent. Weight, resample, and judge by class.";
  return patient;
}

}  // namespace osler::gallery::ward
