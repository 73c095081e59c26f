// What it takes to diagnose a million steps of twenty series: reading, diagnosis, and peak resident memory.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "long_log.h"

namespace osler {
namespace {

constexpr std::int64_t kSteps = 1'000'000;

/// The log is written once, beside the other temporary files, and removed afterwards.
void diagnose_file(benchmark::State& state, void (*write)(const std::filesystem::path&, std::int64_t),
                   const char* name) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name);
  write(path, kSteps);
  std::optional<testing::Effort> effort;
  for (auto _ : state) {
    effort = testing::effort_apart(path);
    if (!effort || effort->points == 0) {
      state.SkipWithError("could not be read and diagnosed");
      break;
    }
    state.SetIterationTime(effort->read_seconds + effort->diagnosis_seconds);
  }
  if (effort) {
    const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
    state.counters["file_MB"] = megabytes;
    state.counters["read_s"] = effort->read_seconds;
    state.counters["read_Mpoints_per_s"] =
        static_cast<double>(kSteps) * testing::kLongSeries / effort->read_seconds / 1e6;
    state.counters["diagnosis_s"] = effort->diagnosis_seconds;
    state.counters["peak_MB"] = effort->peak_megabytes;
  }
  std::filesystem::remove(path);
}

void diagnose_million_steps_csv(benchmark::State& state) {
  diagnose_file(state, testing::write_long_csv, "-metrics.csv");
}
BENCHMARK(diagnose_million_steps_csv)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void diagnose_million_steps_event_file(benchmark::State& state) {
  diagnose_file(state, testing::write_long_event_file, "-events.out.tfevents.1.host");
}
BENCHMARK(diagnose_million_steps_event_file)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

/// Diagnosis alone, of a run that is in memory already.
void diagnose_run(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  Run run;
  for (int series = 0; series < testing::kLongSeries; ++series) (void)run.series(testing::long_series_name(series));
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int series = 0; series < testing::kLongSeries; ++series) {
      run.add(Event{static_cast<SeriesId>(series), step, kNoTime, testing::long_series_value(step, steps, series)});
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(diagnose(run));
}
BENCHMARK(diagnose_run)->Arg(100)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace osler
