// Trains a small character transformer under Osler's monitor, the run kept in a file for `osler diagnose`.
#include <iostream>

#include "gpt/gpt.h"
#include "osler/torch/monitor.h"

int main(int argc, char** argv) {
  torch::manual_seed(1);
  examples::Gpt model;
  torch::optim::AdamW optimizer(model.parameters(), 2e-3);

  osler::torch::MonitorOptions options;
  if (argc > 1) options.run_file = argv[1];
  options.classes = examples::kVocabulary;
  options.clip_norm = 1.0;
  options.on_line = [](const std::string& line) { std::cerr << line << "\n"; };
  osler::torch::Monitor monitor(model, optimizer, std::move(options));

  for (int step = 0; step < 300; ++step) {
    const auto [x, y] = examples::pieces(16);
    monitor.train_step([&] { return examples::next_character_loss(model.forward(x), y); });
  }
  std::cout << monitor.summary();
}
