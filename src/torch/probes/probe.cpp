// Running a probe so that the training does not notice.
#include "torch/probes/probe.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace osler::torch {
namespace {

void expect_complete(std::string_view probe, const Training& training) {
  const auto expect = [&](bool there, std::string_view what) {
    if (!there)
      throw std::invalid_argument(fmt::format("{}: the training has no {}; set Training::{}.", probe, what, what));
  };
  expect(static_cast<bool>(training.forward), "forward");
  expect(static_cast<bool>(training.loss), "loss");
  expect(static_cast<bool>(training.next_batch), "next_batch");
  if (training.model.parameters().empty()) {
    throw std::invalid_argument(
        fmt::format("{}: the model has no parameters; register them and its modules with register_parameter and "
                    "register_module.",
                    probe));
  }
}

void end(Experiment& experiment, std::string_view why) {
  experiment.outcome = Experiment::Outcome::stopped;
  experiment.verdict = std::string(why);
}

}  // namespace

void Clock::check() const {
  if (limits_.stop.stop_requested()) throw Ended(true);
  if (seconds() > limits_.seconds) throw Ended(false);
}

double Clock::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

Limits Clock::left() const {
  return {limits_.seconds - seconds(), limits_.stop};
}

std::vector<Batch> draw(const Training& training, std::size_t count) {
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; ++i) batches.push_back(training.next_batch());
  return batches;
}

double optimizer_step(const Training& training, ::torch::optim::Optimizer& optimizer, std::span<const Batch> batches) {
  std::optional<double> before;
  optimizer.step([&] {
    optimizer.zero_grad();
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (const Batch& batch : batches) {
      const at::Tensor loss = training.loss_of(batch) / static_cast<double>(batches.size());
      loss.backward();
      sum += loss.detach().to(at::kCPU).to(at::kDouble);
    }
    if (!before) before = sum.item<double>();
    return sum;
  });
  return before.value_or(std::numeric_limits<double>::quiet_NaN());
}

void switch_to_training(::torch::nn::Module& model) {
  if (!model.is_training()) model.train();
}

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

Experiment run_probe(std::string_view probe, const Training& training, const Limits& limits,
                     const std::function<void(Experiment&, Preserved&, const Clock&)>& body) {
  expect_complete(probe, training);
  Experiment experiment;
  experiment.probe = std::string(probe);
  const Clock clock(limits);
  Preserved preserved(training);
  const at::AutoGradMode with_gradients(true);
  try {
    clock.check();
    body(experiment, preserved, clock);
  } catch (const Ended& ended) {
    end(experiment, ended.what());
  } catch (const std::exception& error) {
    end(experiment, fmt::format("The training threw an exception: {}", first_line(error.what())));
  } catch (...) {
    end(experiment, "The training threw an exception that says nothing about itself.");
  }
  return experiment;
}

}  // namespace osler::torch
