// Long logs for tests and benchmarks, and what it takes to diagnose one: time and peak memory, in a process of its own.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "event_file_writer.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/formats/read.h"

namespace osler::testing {

inline constexpr int kLongSeries = 20;

/// The names a training with a few layers would log.
inline std::string long_series_name(int series) {
  constexpr std::array kNames = {"train/loss", "val/loss", "train/acc", "val/acc", "lr", "grad_norm", "step_time"};
  if (series < static_cast<int>(kNames.size())) return kNames[static_cast<std::size_t>(series)];
  return "grad_norm/layers." + std::to_string(series) + ".weight";
}

/// A sound training: the losses fall as a power law with noise, the rest is ordinary.
inline double long_series_value(std::int64_t step, std::int64_t steps, int series) {
  const auto hash = static_cast<std::uint64_t>(step * kLongSeries + series) * 0x9e3779b97f4a7c15ULL;
  const double noise = static_cast<double>((hash ^ (hash >> 29)) >> 11) * 0x1.0p-53 - 0.5;
  const double fallen = std::pow(1.0 + 2000.0 * static_cast<double>(step) / static_cast<double>(steps), -0.4);
  switch (series) {
    case 0:
    case 1:
      return (3.0 + 8.0 * fallen) * (1.0 + 0.05 * noise);
    case 2:
    case 3:
      return 0.7 - 0.6 * fallen + 0.02 * noise;
    case 4:
      return 3e-4 * (1.0 - 0.9 * static_cast<double>(step) / static_cast<double>(steps));
    case 6:
      return 0.2 * (1.0 + 0.1 * noise);
    default:
      return (0.5 + 0.05 * series) * (1.0 + 0.5 * noise);
  }
}

/// Writes `steps` rows of 20 series as CSV.
inline void write_long_csv(const std::filesystem::path& path, std::int64_t steps) {
  std::ofstream file(path, std::ios::binary);
  std::string text = "step";
  for (int series = 0; series < kLongSeries; ++series) text += "," + long_series_name(series);
  text += "\n";
  std::array<char, 32> number{};
  for (std::int64_t step = 0; step < steps; ++step) {
    text += std::to_string(step);
    for (int series = 0; series < kLongSeries; ++series) {
      std::snprintf(number.data(), number.size(), ",%.6g", long_series_value(step, steps, series));
      text += number.data();
    }
    text += "\n";
    if (text.size() < (1U << 20)) continue;
    file << text;
    text.clear();
  }
  file << text;
}

/// Writes `steps` steps of 20 series as a TensorBoard event file.
inline void write_long_event_file(const std::filesystem::path& path, std::int64_t steps) {
  std::ofstream file(path, std::ios::binary);
  constexpr std::int64_t kStepsAtOnce = 4096;
  for (std::int64_t first = 0; first < steps; first += kStepsAtOnce) {
    EventFileWriter writer;
    for (std::int64_t step = first; step < std::min(steps, first + kStepsAtOnce); ++step) {
      for (int series = 0; series < kLongSeries; ++series) {
        writer.scalar(long_series_name(series), step, static_cast<float>(long_series_value(step, steps, series)));
      }
    }
    file << writer.bytes();
  }
}

/// What reading and diagnosing a log took.
struct Effort {
  double read_seconds = 0;
  double diagnosis_seconds = 0;
  std::uint64_t points = 0;  ///< of its longest series; 0: it could not be read
  double peak_megabytes = 0;
};

/// Reads and diagnoses `path` in this process.
inline Effort effort_here(FileSystem& files, const std::filesystem::path& path) {
  using Clock = std::chrono::steady_clock;
  Effort effort;
  const auto start = Clock::now();
  const Result<std::vector<RunSource>> sources = discover(files, path);
  if (!sources || sources->empty()) return effort;
  const Result<Run> run = read_run(files, sources->front());
  if (!run) return effort;
  const auto read = Clock::now();
  const Result<Report> report = diagnose(*run);
  const auto done = Clock::now();
  if (!report) return effort;
  effort.read_seconds = std::chrono::duration<double>(read - start).count();
  effort.diagnosis_seconds = std::chrono::duration<double>(done - read).count();
  effort.points = report->steps.count;
  return effort;
}

/// The same in a child process, so that its peak of resident memory is that of this log alone.
inline std::optional<Effort> effort_apart(const std::filesystem::path& path, FileSystem& files = real_file_system()) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    const Effort effort = effort_here(files, path);
    const bool written = write(ends[1], &effort, sizeof effort) == static_cast<ssize_t>(sizeof effort);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Effort effort;
  const bool complete = read(ends[0], &effort, sizeof effort) == static_cast<ssize_t>(sizeof effort);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0 || !complete) return std::nullopt;
  effort.peak_megabytes = static_cast<double>(usage.ru_maxrss) / 1024.0;
  return effort;
}

}  // namespace osler::testing
