// A descent whose steps are too long, recorded while it runs; writes what Osler draws of it.
#include <fstream>
#include <iostream>

#include "osler/figures/figure.h"
#include "osler/history/training_history.h"

int main(int count, char** arguments) {
  if (count < 2) return 2;
  auto history = osler::TrainingHistory::open({});
  if (!history) return 2;
  double weight = 1;
  for (int step = 0; step < 200; ++step) {
    osler::TrainingStep values;
    values.loss = weight * weight;
    values.learning_rate = 1.05;
    history->record(step, values);
    weight -= 1.05 * 2 * weight;  // a rate of 1 is the longest that does not climb
  }
  const auto report = history->report();
  if (!report) return 2;
  std::cout << report->headline << '\n';
  history->recorder().visit([&](const osler::Run& run) {
    const auto figure = osler::curves_figure(run, *report);
    if (!figure) return;
    const auto drawn = osler::render(*figure, osler::FigureType::svg);
    if (drawn) std::ofstream(arguments[1]) << *drawn;
  });
  return report->status == osler::Status::critical ? 0 : 1;
}
