// metric-bug: the metric compares predictions with the labels of their neighbours.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient metric_bug() {
  Patient patient;
  patient.id = "metric-bug";
  patient.title = "An accuracy at chance beside a good loss";
  patient.story =
      "The accuracy is computed after the predictions were gathered from a queue, one place off. The loss of the same "
      "data is excellent, the accuracy says that the model is guessing, and a good model is thrown away.";
  patient.recipe.metric_right = false;
  patient.recipe.steps = 700;
  patient.finding = "metric-contradicts-loss";
  patient.also = {"confidence-without-learning"};
  patient.cause = "metric-bug";
  patient.treatments = {{"Compare each prediction with its own label", {{"metric_right", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A wrong answer costs at least ln 2 of cross-entropy, so a low loss proves a high accuracy. When they contradict "
      "each other, check the metric first.";
  return patient;
}

}  // namespace osler::gallery::ward
