// oscillating-momentum: long steps with much momentum, so that the loss swings from the start and gets nowhere.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient oscillating_momentum() {
  Patient patient;
  patient.id = "oscillating-momentum";
  patient.title = "Momentum that makes a long step twenty times longer";
  patient.story =
      "The rate had been tuned without momentum. Momentum of 0.95 was added to smooth the way, and the rate stayed: in "
      "the long run each gradient now counts twenty times. The network runs up one wall of the valley and down the "
      "other, and never sees the ground.";
  patient.recipe.activation = Activation::tanh;
  patient.recipe.init = Initialisation::xavier;
  patient.recipe.optimizer = Optimizer::momentum;
  patient.recipe.momentum = 0.95;
  patient.recipe.lr = 0.3;
  patient.finding = "loss-oscillating";
  patient.also = {"loss-diverging"};
  patient.cause = "lr-too-high";
  patient.treatments = {{"Divide the rate by 20, as momentum of 0.95 multiplies the steps by 20", {{"lr", "0.015"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "Momentum m makes the steps 1 / (1 - m) times as long. Whoever adds momentum divides the rate, or sees the loss "
      "swing without getting lower.";
  return patient;
}

}  // namespace osler::gallery::ward
