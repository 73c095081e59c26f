// Reads a training log of any format and says what is wrong with the training.
#include <iostream>

#include "osler/diagnosis/diagnose.h"
#include "osler/report/render.h"
#include "osler/source/source.h"

int main(int count, char** arguments) {
  const auto run = osler::read(count > 1 ? arguments[1] : "-");
  if (!run) {
    std::cerr << osler::describe(run.error()) << '\n';
    return 2;
  }
  const auto report = osler::diagnose(*run);
  if (!report) {
    std::cerr << osler::describe(report.error()) << '\n';
    return 2;
  }
  std::cout << osler::render_text(*report);
}
