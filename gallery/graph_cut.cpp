// graph-cut: a detach in the middle of the network.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient graph_cut() {
  Patient patient;
  patient.id = "graph-cut";
  patient.title = "A detach that cuts the first layer off";
  patient.story =
      "A detach was put behind the first layer to save memory in an experiment, and stayed. The first layer "
      "gets no gradient; the others learn from random features.";
  patient.recipe.connected = false;
  patient.finding = "dead-layer";
  patient.also = {"weights-frozen"};
  patient.cause = "disconnected-graph";
  patient.treatments = {{"Remove the detach", {{"connected", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "A network can learn quite well with a part of it cut off, so nobody notices. List the parameters "
      "without a gradient after the first backward pass.";
  return patient;
}

}  // namespace osler::gallery::ward
