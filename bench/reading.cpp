// How fast logs are read: each format from a file in the page cache, beside a plain read and checksum of its bytes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
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

/// Files are made once and kept for all benchmarks of the program.
const std::filesystem::path& prepared(const std::string& name, std::string (*make)(std::uint64_t), std::uint64_t size) {
  static std::map<std::string, std::filesystem::path> files;
  const auto known = files.find(name);
  if (known != files.end()) return known->second;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "osler-bench";
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / name;
  std::ofstream(path, std::ios::binary) << make(size);
  return files.emplace(name, path).first->second;
}

void finish(benchmark::State& state, std::uint64_t points, std::uint64_t bytes) {
  state.counters["points/s"] = benchmark::Counter(static_cast<double>(points), benchmark::Counter::kIsRate);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

template <typename Sink>
void read_file(benchmark::State& state, const std::filesystem::path& path) {
  FileSystem& files = real_file_system();
  const auto sources = discover(files, path);
  if (!sources) return state.SkipWithError(describe(sources.error()).c_str());
  std::uint64_t points = 0;
  for (auto _ : state) {
    if constexpr (std::is_same_v<Sink, Run>) {
      const auto run = read_run(files, sources->front());
      benchmark::DoNotOptimize(run);
      points += run->steps().count * kSeries;
    } else {
      Sink sink;
      DamageReport damage;
      const auto read = read_events(files, sources->front(), sink, damage);
      if (!read || !damage.empty()) return state.SkipWithError("the file could not be read");
      points += sink.events;
      benchmark::DoNotOptimize(sink.sum);
    }
  }
  finish(state, points, state.iterations() * std::filesystem::file_size(path));
}

/// The floor: the same bytes read in the same pieces and checksummed, nothing else.
void read_and_checksum(benchmark::State& state, const std::filesystem::path& path) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  for (auto _ : state) {
    const auto file = real_file_system().open_read(path);
    std::uint32_t crc = 0;
    for (;;) {
      const auto length = (*file)->read(buffer);
      if (!length || *length == 0) break;
      crc = crc32c(std::span(buffer).first(*length), crc);
    }
    benchmark::DoNotOptimize(crc);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * std::filesystem::file_size(path)));
}

constexpr std::uint64_t kPoints = 4'000'000;
constexpr std::uint64_t kRows = 200'000;

void tensorboard_plain_read(benchmark::State& state) {
  read_and_checksum(state, prepared("events.out.tfevents.scalars", event_file, kPoints));
}
void tensorboard_scalars(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("events.out.tfevents.scalars", event_file, kPoints));
}
void tensorboard_scalars_into_run(benchmark::State& state) {
  read_file<Run>(state, prepared("events.out.tfevents.scalars", event_file, kPoints));
}
void tensorboard_histograms_plain_read(benchmark::State& state) {
  read_and_checksum(state, prepared("events.out.tfevents.histograms", histogram_file, 50'000));
}
void tensorboard_histograms(benchmark::State& state) {
  read_file<ForgetfulSink>(state, prepared("events.out.tfevents.histograms", histogram_file, 50'000));
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

BENCHMARK(tensorboard_plain_read)->Unit(benchmark::kMillisecond);
BENCHMARK(tensorboard_scalars)->Unit(benchmark::kMillisecond);
BENCHMARK(tensorboard_scalars_into_run)->Unit(benchmark::kMillisecond);
BENCHMARK(tensorboard_histograms_plain_read)->Unit(benchmark::kMillisecond);
BENCHMARK(tensorboard_histograms)->Unit(benchmark::kMillisecond);
BENCHMARK(csv)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_into_run)->Unit(benchmark::kMillisecond);
BENCHMARK(json_lines)->Unit(benchmark::kMillisecond);
BENCHMARK(json_lines_into_run)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace osler
