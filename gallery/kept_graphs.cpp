// kept-graphs: every batch is kept together with its outputs and the graph of its loss.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient kept_graphs() {
  Patient patient;
  patient.id = "kept-graphs";
  patient.title = "A list for a plot that keeps everything alive";
  patient.story =
      "Inputs, outputs and losses are collected in a list for a plot after the epoch, as tensors. Each holds on to its "
      "memory and to the graph it came from. Memory grows with every step until the machine gives up.";
  patient.recipe.keep_graphs = true;
  patient.recipe.width = 256;
  patient.recipe.batch_size = 512;
  patient.recipe.steps = 250;
  patient.finding = "memory-growing";
  patient.treatments = {{"Keep numbers, not tensors", {{"keep_graphs", "off"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Call item() or detach() on what you keep. A tensor with a graph keeps the whole step.";
  return patient;
}

}  // namespace osler::gallery::ward
