// no-shuffling: the training set is read sorted by class.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient no_shuffling() {
  Patient patient;
  patient.id = "no-shuffling";
  patient.title = "All zeros, then all ones, then all twos";
  patient.story =
      "The files lie in one folder for each class and are read in that order. While the zeros come, the network learns "
      "to answer zero; then come the ones. The loss saws with every epoch.";
  patient.recipe.shuffle = false;
  patient.finding = "epoch-sawtooth";
  patient.also = {"loss-oscillating", "loss-spikes"};
  patient.cause = "no-shuffling";
  patient.treatments = {{"Shuffle every epoch", {{"shuffle", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.recovery.better_by = 0.95;
  patient.lesson = "Stochastic gradient descent needs batches that resemble the whole. Shuffle, every epoch anew.";
  return patient;
}

}  // namespace osler::gallery::ward
