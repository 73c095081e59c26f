// kept-graphs: every loss is kept together with its graph.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient kept_graphs() {
  Patient patient;
  patient.id = "kept-graphs";
  patient.title = "A list of losses that keeps everything alive";
  patient.story =
      "The losses are collected in a list for a plot, as tensors. Each holds on to the graph it came from, and with it "
      "to every activation of its step. Memory grows with every step until the machine gives up.";
  patient.recipe.keep_graphs = true;
  patient.recipe.width = 128;
  patient.recipe.batch_size = 256;
  patient.recipe.steps = 250;
  patient.finding = "memory-growing";
  patient.treatments = {{"Keep numbers, not tensors", {{"keep_graphs", "off"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Call item() or detach() on what you keep. A tensor with a graph keeps the whole step.";
  return patient;
}

}  // namespace osler::gallery::ward
