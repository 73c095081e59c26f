// saddle-at-zero: first weights so small that the loss stands on the plateau around the saddle at zero.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient saddle_at_zero() {
  Patient patient;
  patient.id = "saddle-at-zero";
  patient.title = "A start on the flat place around zero";
  patient.story =
      "Someone had read that weights should start small and took 0.01 for every layer. With all weights at zero the "
      "loss "
      "is flat in every direction, and yet no minimum: a saddle. Nearby, each layer's gradient is a product of the "
      "other "
      "layers' tiny weights, so that plain descent needs hundreds of steps to notice that there is a way down.";
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 0.01;
  patient.recipe.activation = Activation::tanh;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.1;
  patient.recipe.steps = 600;
  patient.finding = "loss-stuck-from-start";
  patient.also = {"poor-initialization", "collapsed-representation", "underfitting"};
  patient.probe = "curvature";
  patient.cause = "bad-initialization";
  patient.treatments = {{"Draw the first weights by Xavier's rule", {{"init", "xavier"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A flat start is rarely a minimum. Weights drawn by the size of their layer begin on a slope; momentum and noise "
      "help where one cannot begin again.";
  return patient;
}

}  // namespace osler::gallery::ward
