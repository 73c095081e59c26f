// What recording costs the training thread: 3,000 values of one step, each way of recording them.
#include <benchmark/benchmark.h>

#include <unistd.h>
#include <filesystem>

#include "osler/recorder/recorder.h"

namespace {

using namespace osler;

constexpr std::size_t kValues = 3000;

/// A recorder into a run file, as it is used.
class Recording {
 public:
  Recording()
      : path_(std::filesystem::temp_directory_path() / ("osler-bench-" + std::to_string(::getpid()) + ".osler")) {
    std::filesystem::remove(path_);
    std::vector<SinkPointer> sinks;
    sinks.push_back(std::move(*run_file_sink(path_)));
    recorder = std::make_unique<Recorder>(std::move(*Recorder::open({"bench"}, std::move(sinks))));
    for (std::size_t i = 0; i < kValues; ++i) {
      names.push_back("gradients/block." + std::to_string(i) + ".weight#norm");
      values.push_back({recorder->series(names.back()), 0.001 * static_cast<double>(i)});
    }
    // The first seconds find the sizes of the queues; a training is longer than that.
    for (std::int64_t step = -150; step < 0; ++step) {
      ::usleep(20'000);
      recorder->record(step, values);
    }
  }
  ~Recording() {
    recorder.reset();
    std::filesystem::remove(path_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::unique_ptr<Recorder> recorder;
  std::vector<std::string> names;
  std::vector<SeriesValue> values;

 private:
  std::filesystem::path path_;
};

/// A step takes at least so long; without it the bench would record millions of values a second, which nobody does.
void train(benchmark::State& state) {
  state.PauseTiming();
  ::usleep(20'000);
  state.ResumeTiming();
}

void values_of_a_step_at_once(benchmark::State& state) {
  Recording recording;
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    train(state);
    recording.recorder->record(++step, recording.values);
  }
}
BENCHMARK(values_of_a_step_at_once)->Iterations(300)->Unit(benchmark::kMicrosecond);

void value_by_value(benchmark::State& state) {
  Recording recording;
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    train(state);
    ++step;
    for (const SeriesValue& value : recording.values) recording.recorder->record(value.series, step, value.value);
  }
}
BENCHMARK(value_by_value)->Iterations(300)->Unit(benchmark::kMicrosecond);

void record_by_name(Recording& recording, std::int64_t step) {
  for (std::size_t i = 0; i < kValues; ++i) {
    recording.recorder->scalar(step, recording.names[i], recording.values[i].value);
  }
}

/// The names are in the cache, as they are when the training has just made or used them.
void value_by_name(benchmark::State& state) {
  Recording recording;
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    train(state);
    state.PauseTiming();
    for (const std::string& name : recording.names) benchmark::DoNotOptimize(std::hash<std::string>{}(name));
    state.ResumeTiming();
    record_by_name(recording, ++step);
  }
}
BENCHMARK(value_by_name)->Iterations(300)->Unit(benchmark::kMicrosecond);

/// The names were last touched a step ago: half the time is that of fetching the caller's 3,000 strings from memory.
void value_by_name_out_of_cache(benchmark::State& state) {
  Recording recording;
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    train(state);
    record_by_name(recording, ++step);
  }
}
BENCHMARK(value_by_name_out_of_cache)->Iterations(300)->Unit(benchmark::kMicrosecond);

void tensors_of_six_statistics(benchmark::State& state) {
  Recording recording;
  stats::TensorStats stats;
  stats.count = 1000;
  stats.m2 = 3;
  stats.min = -0.2;
  stats.max = 0.2;
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    train(state);
    ++step;
    for (std::size_t i = 0; i < kValues / 6; ++i) {
      recording.recorder->tensor(step, TensorKind::weight, recording.names[i], stats);
    }
  }
}
BENCHMARK(tensors_of_six_statistics)->Iterations(300)->Unit(benchmark::kMicrosecond);

}  // namespace
