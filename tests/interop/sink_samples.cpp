// Writes a sample run with the TensorBoard and W&B sinks, and what their own readers must find in it.
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "recorded_run.h"

namespace {

using namespace osler;
using nlohmann::json;

json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

json expected(const testing::RecordedRun& run) {
  json all{{"scalars", json::object()}, {"histograms", json::object()}, {"config", json::object()}};
  for (const auto& series : run.series) {
    for (const Event& event : series.events) {
      all["scalars"][series.name].push_back({event.step, event.wall_time, number(event.value)});
    }
  }
  for (const auto& [name, histogram] : run.histograms) {
    all["histograms"][name].push_back({{"step", histogram.step},
                                       {"min", histogram.min},
                                       {"max", histogram.max},
                                       {"num", histogram.count},
                                       {"sum", histogram.sum},
                                       {"sum_squares", histogram.sum_squares},
                                       {"bucket_limit", histogram.limits},
                                       {"bucket", histogram.counts}});
  }
  for (const auto& [key, value] : run.config) all["config"][key] = value;
  return all;
}

int write_samples(const std::filesystem::path& folder) {
  const testing::RecordedRun run = testing::recorded_run();
  WandbOptions wandb;
  wandb.id = "osler123";
  wandb.name = "sample";
  wandb.wall_time = 1.7e9;
  std::vector<SinkPointer> sinks;
  for (const bool exact : {false, true}) {
    auto made = tensorboard_sink(real_file_system(), folder / (exact ? "tensorboard-exact" : "tensorboard"), {exact});
    if (made) sinks.push_back(std::move(*made));
  }
  auto made = wandb_sink(real_file_system(), folder, wandb);
  if (made) sinks.push_back(std::move(*made));
  if (sinks.size() != 3) {
    std::cerr << "cannot write below " << folder << "\n";
    return 1;
  }
  const auto recorded = testing::record(run, std::move(sinks));
  if (!recorded) {
    std::cerr << describe(recorded.error()) << "\n";
    return 1;
  }
  std::ofstream(folder / "expected.json") << expected(run).dump(1) << "\n";
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: osler_sink_samples FOLDER\n";
    return 1;
  }
  return write_samples(arguments[1]);
}
