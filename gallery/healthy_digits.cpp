// healthy-digits: a small network that learns handwritten digits as it should.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_digits() {
  Patient patient;
  patient.id = "healthy-digits";
  patient.title = "A small network learns digits";
  patient.story = "Three hidden layers with ReLU and He initialisation, Adam at its usual rate. Nothing is wrong.";
  return patient;
}

}  // namespace osler::gallery::ward
