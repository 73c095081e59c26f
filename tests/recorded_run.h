// A run as a training records it, for tests and for the samples that other programs read.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "osler/recorder/recorder.h"

namespace osler::testing {

/// One series of the run.
struct RecordedSeries {
  std::string name;
  std::vector<Event> events;  ///< with steps, wall times and values
};

/// Everything that is recorded.
struct RecordedRun {
  std::vector<RecordedSeries> series;
  std::vector<std::pair<std::string, Histogram>> histograms;  ///< by name
  std::vector<std::pair<std::string, std::string>> config;
};

/// Three hundred steps: a loss with a NaN and an infinity, a rate that no 32 bits hold, a validation every fifty steps,
/// norms of layers, and histograms. Two hundred series make rows that span blocks of any log.
inline RecordedRun recorded_run() {
  constexpr int kSteps = 300;
  constexpr int kLayers = 200;
  constexpr double kStart = 1.7e9;
  std::mt19937_64 random(17);
  std::normal_distribution<double> noise(0, 0.05);
  RecordedRun run;
  run.config = {{"lr", "0.1"}, {"model", "a \"small\" one, größer"}, {"epochs", "3"}};
  run.series = {{"train/loss", {}}, {"lr", {}}, {"val/loss", {}}};
  for (int layer = 0; layer < kLayers; ++layer) {
    run.series.push_back({"gradients/block." + std::to_string(layer) + ".weight#norm", {}});
  }
  for (int step = 1; step <= kSteps; ++step) {
    const double time = kStart + 0.125 * step;
    const auto put = [&](std::size_t series, double value) {
      run.series[series].events.push_back(Event{0, step, time, value});
    };
    double loss = static_cast<float>(0.2 + 2.0 / (1 + 0.05 * step) + noise(random));
    if (step == 200) loss = std::nan("");
    if (step == 201) loss = std::numeric_limits<double>::infinity();
    put(0, loss);
    put(1, 0.1 * std::cos(step * 0.005));
    if (step % 50 == 0) put(2, static_cast<float>(1.0 / step));
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      put(3 + layer, static_cast<float>(std::exp(-0.02 * static_cast<double>(layer) + noise(random))));
    }
    if (step % 100 == 0) {
      Histogram histogram{0, step, time, -1.5, 2, 10, 3.5, 12.25, {-1, 0, 0.5, 2}, {1, 2, 3, 4}};
      run.histograms.emplace_back("weights/block.0.weight", histogram);
    }
  }
  return run;
}

/// Records it into sinks.
inline Result<void> record(const RecordedRun& run, std::vector<SinkPointer> sinks) {
  auto recorder = Recorder::open({"recorded"}, std::move(sinks));
  if (!recorder) return recorder.error();
  for (const auto& [key, value] : run.config) recorder->config(key, value);
  std::vector<SeriesId> ids;
  for (const RecordedSeries& series : run.series) ids.push_back(recorder->series(series.name));
  std::vector<std::size_t> next(run.series.size(), 0);
  std::size_t histogram = 0;
  const std::int64_t last = run.series.front().events.back().step;
  for (std::int64_t step = run.series.front().events.front().step; step <= last; ++step) {
    for (std::size_t i = 0; i < run.series.size(); ++i) {
      if (next[i] == run.series[i].events.size() || run.series[i].events[next[i]].step != step) continue;
      Event event = run.series[i].events[next[i]++];
      event.series = ids[i];
      recorder->record({&event, 1});
    }
    while (histogram < run.histograms.size() && run.histograms[histogram].second.step == step) {
      const auto& [name, content] = run.histograms[histogram++];
      recorder->histogram(step, name, content);
    }
  }
  recorder->mark(Mark::Kind::finished, last, "done");
  return recorder->close();
}

}  // namespace osler::testing
