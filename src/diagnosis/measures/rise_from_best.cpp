// rise-from-best: how much validation gave back.
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  constexpr std::size_t kFewest = 5;
  const Reading* validation = patient.validation();
  if (validation == nullptr || validation->size() < kFewest || validation->improvement() <= 0) return std::nullopt;
  return (validation->end - validation->best) / validation->improvement();
}

}  // namespace

MeasureKind rise_from_best() {
  return {"rise-from-best",
          "rise of the validation loss from its best",
          "of the gain",
          "How much of what the validation loss had gained is lost again at the end.",
          "validation losses of at least 5 points that ever improved",
          take};
}

}  // namespace osler::catalogue::measure
