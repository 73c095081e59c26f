// rate-over-usual: whether the rate is of the usual size.
#include <string>
#include <string_view>

#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const std::optional<double> rate = highest_rate(patient);
  const std::optional<std::string> optimizer = optimizer_of(patient);
  if (!rate || !optimizer) return std::nullopt;
  struct Usual {
    std::string_view name;
    double rate;
  };
  // The first that is part of the name counts: "adamw" before "adam" would be the same, "adagrad" is not "adam".
  constexpr Usual kUsual[] = {{"lion", 1e-4},     {"adagrad", 1e-2},  {"adafactor", 1e-3},
                              {"adam", 1e-3},     {"lamb", 2e-3},     {"rmsprop", 1e-3},
                              {"momentum", 5e-2}, {"nesterov", 5e-2}, {"sgd", 1e-1}};
  for (const Usual& usual : kUsual) {
    if (optimizer->find(usual.name) != std::string::npos) return *rate / usual.rate;
  }
  return std::nullopt;
}

}  // namespace

MeasureKind rate_over_usual() {
  return {"rate-over-usual",
          "learning rate over what is usual for the optimizer",
          "times",
          "The highest learning rate over the usual one of its optimizer (Adam and its kin and RMSprop 0.001, SGD 0.1, "
          "with momentum 0.05, Lion 0.0001, Adagrad 0.01: the defaults and examples of their authors and of PyTorch).",
          "logs with a learning rate whose configuration names the optimizer",
          take};
}

}  // namespace osler::catalogue::measure
