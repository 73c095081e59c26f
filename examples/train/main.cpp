// Trains a multilayer perceptron with Osler's loop, and once more with its tools in a loop of one's own.
#include "osler/torch/train.h"

#include <cmath>
#include <filesystem>
#include <iostream>

#include "mlp/mlp.h"
#include "osler/torch/checkpoint.h"
#include "osler/torch/clip.h"
#include "osler/torch/loss_scale.h"
#include "osler/torch/sam.h"
#include "osler/torch/scheduler.h"

namespace {

/// Everything is done for you; called again with the same file, it goes on where it was.
osler::torch::TrainResult with_the_loop(const std::filesystem::path& file) {
  const auto [x, y] = examples::clouds(4096);
  const auto [validation_x, validation_y] = examples::clouds(512);
  const osler::torch::Shuffled data(x, y, {.batch_size = 64, .seed = 1});
  const osler::torch::Shuffled validation(validation_x, validation_y, {.batch_size = 256, .shuffle = false});

  examples::Mlp model;
  torch::optim::AdamW optimizer(model.parameters(), 1e-3);
  const osler::torch::Training training = {
      .model = model,
      .optimizer = optimizer,
      .forward = [&](const at::Tensor& inputs) { return model.forward(inputs); },
      .loss = [](const at::Tensor& outputs,
                 const at::Tensor& targets) { return at::cross_entropy_loss(outputs, targets); },
      .next_batch = osler::torch::without_end(data),
      .next_validation_batch = osler::torch::without_end(validation),
      .classes = 10};

  osler::torch::TrainOptions options;
  options.epochs = 10;
  options.schedule = osler::torch::warmup_cosine({.warmup = 30, .steps = osler::torch::steps_of(data, options)});
  options.early_stopping = osler::torch::EarlyStopping{.patience = 3};
  options.checkpoint = file;
  options.monitor.clip_norm = 1;
  options.monitor.classes = 10;
  options.metrics = [](const at::Tensor& outputs, const at::Tensor& targets) {
    const auto right = outputs.argmax(1).eq(targets).to(at::kDouble).mean().item<double>();
    return std::vector<std::pair<std::string, double>>{{"accuracy", right}};
  };
  options.on_progress = [](const osler::torch::TrainProgress& progress) {
    std::cerr << "\r" << osler::torch::progress_line(progress) << std::flush;
  };
  return osler::torch::train(training, data, validation, std::move(options));
}

/// The same tools in a loop of one's own.
void by_hand(const std::filesystem::path& file) {
  examples::Mlp model;
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  osler::torch::Scheduler scheduler(optimizer, osler::torch::one_cycle({.steps = 100}));
  osler::torch::LossScale scale({.start = 1024});

  for (int step = 0; step < 100; ++step) {
    const auto [x, y] = examples::clouds(64);
    optimizer.zero_grad();
    scale.scaled(at::cross_entropy_loss(model.forward(x), y)).backward();
    if (scale.unscale(model.parameters())) {
      const double norm = osler::torch::clip_norm(model.parameters(), 1);
      if (std::isfinite(norm)) optimizer.step();
    }
    scheduler.step();
  }

  const osler::torch::CheckpointParts parts = {model, &optimizer, &scheduler, &scale};
  if (const auto saved = osler::torch::save_checkpoint(file, parts, {.step = 100}); !saved) {
    std::cerr << describe(saved.error()) << "\n";
  }
  if (const auto notes = osler::torch::load_checkpoint(file, parts)) std::cout << "step " << notes->step << "\n";
}

/// Towards a place where the loss is low all around.
double to_a_flat_place() {
  examples::Mlp model;
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.1));
  double loss = 0;
  osler::torch::Sam sam(optimizer, 0.05);
  for (int step = 0; step < 100; ++step) {
    const auto [x, y] = examples::clouds(64);
    loss = sam.step([&] { return at::cross_entropy_loss(model.forward(x), y); }).item<double>();
  }
  return loss;
}

}  // namespace

int main(int count, char** arguments) {
  torch::manual_seed(1);
  const std::filesystem::path folder = count > 1 ? arguments[1] : std::filesystem::temp_directory_path();
  const osler::torch::TrainResult result = with_the_loop(folder / "osler-train.ckpt");
  std::cout << "\n"
            << to_string(result.end) << " after " << result.steps << " steps, best validation loss "
            << result.best_validation_loss.value_or(0) << " at step " << result.best_step << "\n";
  by_hand(folder / "osler-by-hand.ckpt");
  std::cout << "with sharpness-aware steps the loss is " << to_a_flat_place() << "\n";
}
