// How fast logs are read, per core: each format from a file in the page cache, beside a plain read and checksum of its
// bytes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/crc32c.h"
#include "event_file_writer.h"
#include "osler/formats/read.h"

namespace osler {
namespace {

using testing::EventFileWriter;

/// Takes events and forgets them, so that reading alone is measured.
class ForgetfulSink final : public EventSink {
 public:
  SeriesId series(std::string_view) override { return names_++; }
  void add(const Event& event) override {
    ++events;
    sum += event.value;
  }
  void add(Mark) override {}
  void config(std::string_view, std::string_view) override {}

  std::uint64_t events = 0;
  double sum = 0;

 private:
  SeriesId names_ = 0;
};

double curve(std::uint64_t step, int series) {
  return (1.0 + 0.1 * series) / std::sqrt(static_cast<double>(step) + 1) +
         1e-3 * std::sin(static_cast<double>(step * 7));
}

constexpr int kSeries = 20;

std::string series_name(int series) {
  return "train/metric_" + std::to_string(series);
}

std::string event_file(std::uint64_t points) {
  EventFileWriter writer;
  for (std::uint64_t i = 0; i < points; ++i) {
    const int series = static_cast<int>(i % kSeries);
    writer.scalar(series_name(series), static_cast<std::int64_t>(i / kSeries), static_cast<float>(curve(i, series)));
  }
  return writer.bytes();
}

std::string histogram_file(std::uint64_t histograms) {
  EventFileWriter writer;
  EventFileWriter::Histogram histogram{-1, 1, 1e6, 10, 1e5, {}, {}};
  for (int i = 0; i < 200; ++i) {
    histogram.limits.push_back((i - 100) / 100.0);
    histogram.counts.push_back(5000);
  }
  for (std::uint64_t i = 0; i < histograms; ++i) {
    writer.histogram("layer" + std::to_string(i % 50) + "/weight", static_cast<std::int64_t>(i / 50), histogram);
  }
  return writer.bytes();
}

std::string csv_file(std::uint64_t rows) {
  std::string text = "step";
  for (int series = 0; series < kSeries; ++series) text += "," + series_name(series);
  text += "\n";
  char number[32];
  for (std::uint64_t row = 0; row < rows; ++row) {
    text += std::to_string(row);
    for (int series = 0; series < kSeries; ++series) {
      std::snprintf(number, sizeof number, ",%.6g", curve(row, series));
      text += number;
    }
    text += "\n";
  }
  return text;
}

std::string json_lines_file(std::uint64_t rows) {
  std::string text;
  char number[32];
  for (std::uint64_t row = 0; row < rows; ++row) {
    text += "{\"step\": " + std::to_string(row);
    for (int series = 0; series < kSeries; ++series) {
      std::snprintf(number, sizeof number, ": %.6g", curve(row, series));
      text += ", \"" + series_name(series) + "\"" + number;
    }
    text += "}\n";
  }
  return text;
}

/// The lines a training prints, in three shapes, with noise between them as real logs have.
std::string text_file(std::uint64_t steps) {
  std::string text;
  char line[300];
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::snprintf(
        line, sizeof line,
        "2024-05-01 10:%02d:%02d,%03d | INFO | train_inner | epoch %03d: %6d / 5000 loss=%.4f, nll_loss=%.4f, "
        "ppl=%.2f, wps=%.1f, num_updates=%llu, lr=%.6g, gnorm=%.3f, train_wall=%d\n",
        static_cast<int>(step / 60 % 60), static_cast<int>(step % 60), static_cast<int>(step % 1000),
        static_cast<int>(step / 5000 + 1), static_cast<int>(step % 5000), curve(step, 0), curve(step, 1),
        curve(step, 2), curve(step, 3) + 50000, static_cast<unsigned long long>(step), 1e-4, curve(step, 4),
        static_cast<int>(step));
    text += line;
    if (step % 100 == 99) text += "saving the checkpoint to out/checkpoint_last.pt\n";
    if (step % 500 != 499) continue;
    std::snprintf(line, sizeof line, "validation | loss %.4f | accuracy %.4f | step %llu\n", curve(step, 5),
                  curve(step, 6), static_cast<unsigned long long>(step));
    text += line;
  }
  return text;
}

/// What a progress bar leaves in a file.
std::string progress_bar_file(std::uint64_t steps) {
  std::string text;
  char line[200];
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto at = static_cast<int>(step % 1000);
    std::snprintf(line, sizeof line,
                  "\rEpoch %d: %3d%%|##########          | %d/1000 [00:%02d<01:00, 12.3it/s, loss=%.4f, acc=%.3f]",
                  static_cast<int>(step / 1000), at / 10, at, at % 60, curve(step, 0), curve(step, 1));
    text += line;
    if (at == 999) text += "\n";
  }
  return text;
}

/// Files are made once and kept for all benchmarks of the program.
const std::filesystem::path& prepared(const std::string& name, std::string (*make)(std::uint64_t), std::uint64_t size) {
  static std::map<std::string, std::filesystem::path> files;
  const auto known = files.find(name);
  if (known != files.end()) return known->second;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "osler-bench";
  const std::filesystem::path path = folder / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << make(size);
  return files.emplace(name, path).first->second;
}

/// The floor: the same bytes read in the same pieces and checksummed, nothing else.
void read_and_checksum(const std::filesystem::path& path, std::vector<std::byte>& buffer) {
  const auto file = real_file_system().open_read(path);
  std::uint32_t crc = 0;
  for (;;) {
    const auto length = (*file)->read(buffer);
    if (!length || *length == 0) break;
    crc = crc32c(std::span(buffer).first(*length), crc);
  }
  benchmark::DoNotOptimize(crc);
}

/// Processor time of all threads, so that neither a second core nor other work on the machine flatters or spoils a
/// result.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t bytes_at(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

/// Reads what is at `path`. For a single file a plain read takes turns with it, untimed, and `of_plain_read` says how
/// near reading comes to it.
template <typename Sink>
void read_file(benchmark::State& state, const std::filesystem::path& path) {
  FileSystem& files = real_file_system();
  const auto sources = discover(files, path);
  if (!sources) return state.SkipWithError(describe(sources.error()).c_str());
  std::uint64_t points = 0;
  double own_seconds = 0;
  double plain_seconds = 0;
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  const bool single = !std::filesystem::is_directory(path);
  for (auto _ : state) {
    const double start = processor_seconds();
    if constexpr (std::is_same_v<Sink, Run>) {
      const auto run = read_run(files, sources->front());
      benchmark::DoNotOptimize(run);
      for (const Series& series : run->all_series()) points += series.summary().points();
    } else {
      Sink sink;
      DamageReport damage;
      const auto read = read_events(files, sources->front(), sink, damage);
      if (!read || !damage.empty()) return state.SkipWithError("the file could not be read");
      points += sink.events;
      benchmark::DoNotOptimize(sink.sum);
    }
    own_seconds += processor_seconds() - start;
    if (!single) continue;
    state.PauseTiming();
    const double plain_start = processor_seconds();
    read_and_checksum(path, buffer);
    plain_seconds += processor_seconds() - plain_start;
    state.ResumeTiming();
  }
  state.counters["points/s"] = benchmark::Counter(static_cast<double>(points), benchmark::Counter::kIsRate);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes_at(path)));
  if (single) state.counters["of_plain_read"] = plain_seconds / own_seconds;
}

constexpr std::uint64_t kPoints = 4'000'000;
constexpr std::uint64_t kRows = 200'000;

void tensorboard_scalars(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("events.out.tfevents.scalars", event_file, kPoints));
}
void tensorboard_scalars_into_run(benchmark::State& state) {
  read_file<Run>(state, prepared("events.out.tfevents.scalars", event_file, kPoints));
}
void tensorboard_histograms(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("events.out.tfevents.histograms", histogram_file, 50'000));
}
/// Four files of one run, which are read at the same time where there are cores for it.
void tensorboard_four_files(benchmark::State& state) {
  std::filesystem::path folder;
  for (const char* name : {"four/events.out.tfevents.1", "four/events.out.tfevents.2", "four/events.out.tfevents.3",
                           "four/events.out.tfevents.4"}) {
    folder = prepared(name, event_file, kPoints / 4).parent_path();
  }
  read_file<ForgetfulSink>(state, folder);
}
void text(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("train.log", text_file, kRows));
}
void text_into_run(benchmark::State& state) {
  read_file<Run>(state, prepared("train.log", text_file, kRows));
}
void text_progress_bars(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("bars.log", progress_bar_file, kRows));
}
void csv(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("metrics.csv", csv_file, kRows));
}
void csv_into_run(benchmark::State& state) {
  read_file<Run>(state, prepared("metrics.csv", csv_file, kRows));
}
void json_lines(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("metrics.jsonl", json_lines_file, kRows));
}
void json_lines_into_run(benchmark::State& state) {
  read_file<Run>(state, prepared("metrics.jsonl", json_lines_file, kRows));
}

BENCHMARK(tensorboard_scalars)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(tensorboard_scalars_into_run)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(tensorboard_histograms)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(tensorboard_four_files)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(text)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(text_into_run)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(text_progress_bars)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(csv)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(csv_into_run)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(json_lines)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(json_lines_into_run)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace osler
