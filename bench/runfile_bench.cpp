// How small a run file is, how quickly it opens, and how quickly any window of it is served. Takes the number of points
// in millions (100 unless told) and the path of a file to write and keep.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "osler/runfile/reader.h"
#include "osler/runfile/writer.h"

namespace {

using namespace osler;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The mix: a loss, its gradient norm and step time in 32 bits, a cosine learning rate in 64, an epoch, two validation
/// numbers every thousand steps, and the norm and standard deviation of sixteen layers' gradients in 32 bits.
class Mix {
 public:
  explicit Mix(EventSink& sink) : sink_(sink) {
    for (const char* name : {"train/loss", "gradient_norm", "step_time", "lr", "epoch", "val/loss", "val/accuracy"}) {
      names.emplace_back(name);
    }
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* statistic : {"norm", "std"}) {
        names.push_back("gradients/block." + std::to_string(layer) + ".weight#" + statistic);
      }
    }
    for (const std::string& name : names) ids_.push_back(sink.series(name));
  }

  /// Records one step; returns how many points that was.
  std::size_t step(std::int64_t step, std::int64_t last) {
    const auto x = static_cast<double>(step);
    time_ += 0.1 + 0.002 * std::abs(noise());
    points_ = 0;
    const double level = 0.5 + 3 / std::sqrt(1 + x / 1000);
    put(step, 0, static_cast<float>(level * (1 + 0.03 * noise())));
    put(step, 1, static_cast<float>(std::exp(0.3 * noise()) / std::sqrt(1 + x / 5000)));
    put(step, 2, static_cast<float>(0.1 + 0.002 * std::abs(noise())));
    put(step, 3, 3e-4 * 0.5 * (1 + std::cos(3.14159265358979 * x / static_cast<double>(last))));
    put(step, 4, std::floor(x / 1000));
    if (step % 1000 == 0) {
      put(step, 5, static_cast<float>(level * (1 + 0.01 * noise())));
      put(step, 6, static_cast<float>(1 - level / 4));
    }
    for (std::size_t i = 7; i < names.size(); ++i) {
      put(step, i, static_cast<float>(std::exp(0.2 * noise() - 0.1 * static_cast<double>(i))));
    }
    return points_;
  }

  std::vector<std::string> names;

 private:
  static constexpr int kLayers = 16;

  void put(std::int64_t step, std::size_t series, double value) {
    ++points_;
    sink_.add(Event{ids_[series], step, time_, value});
  }
  /// Near enough to normal, and quick: the bench must not measure its own noise.
  double noise() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const auto part = [&](int shift) { return static_cast<double>((state_ >> shift) & 0xFFFF) / 65536 - 0.5; };
    return (part(0) + part(16) + part(32) + part(48)) * std::sqrt(3.0);
  }

  EventSink& sink_;
  std::vector<SeriesId> ids_;
  double time_ = 1.7e9;
  std::size_t points_ = 0;
  std::uint64_t state_ = 88172645463325252ULL;
};

struct Timing {
  double worst = 0;
  double sum = 0;
  int count = 0;
  void add(double seconds) {
    worst = std::max(worst, seconds);
    sum += seconds;
    ++count;
  }
};

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const double millions = count > 1 ? std::strtod(arguments[1], nullptr) : 100;
  const bool keep = count > 2;
  const std::filesystem::path path =
      keep ? std::filesystem::path(arguments[2]) : std::filesystem::temp_directory_path() / "osler-bench.osler";
  const auto wanted = static_cast<std::uint64_t>(millions * 1e6);
  std::filesystem::remove(path);

  auto writer = RunFileWriter::open(path);
  if (!writer) return fail(writer.error());
  Mix mix(*writer);
  const auto last = static_cast<std::int64_t>(wanted / (mix.names.size() - 2));
  std::uint64_t points = 0;
  auto start = Clock::now();
  for (std::int64_t step = 0; step < last; ++step) {
    points += mix.step(step, last);
    if (step % 2000 != 1999) continue;
    if (const auto committed = writer->commit(); !committed) return fail(committed.error());
  }
  if (const auto closed = writer->close(); !closed) return fail(closed.error());
  const double writing = seconds_since(start);
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  std::printf("written  %.1f million points of %zu series in %.1f s: %.0f ns per point\n",
              static_cast<double>(points) / 1e6, mix.names.size(), writing,
              writing / static_cast<double>(points) * 1e9);
  std::printf("size     %.1f MB: %.3f bytes per point\n", bytes / 1e6, bytes / static_cast<double>(points));

  start = Clock::now();
  auto reader = RunFileReader::open(path);
  if (!reader) return fail(reader.error());
  std::printf("open     %.2f ms\n", seconds_since(start) * 1e3);
  start = Clock::now();
  const auto series = reader->series();
  if (!series) return fail(series.error());
  std::printf("series   %.2f ms for the list of %zu\n", seconds_since(start) * 1e3, series->size());

  std::mt19937_64 random(1);
  for (const double share : {1.0, 0.3, 0.03, 0.003, 0.0001}) {
    Timing timing;
    std::size_t spans = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string& name = mix.names[random() % mix.names.size()];
      const auto width = static_cast<std::int64_t>(share * static_cast<double>(last));
      const std::int64_t first =
          width >= last ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - width));
      start = Clock::now();
      const auto window = reader->window(name, {first, first + width, 2000});
      timing.add(seconds_since(start));
      if (!window) return fail(window.error());
      spans = std::max(spans, window->size());
    }
    std::printf("window   %8.4f of the run: %.2f ms on average, %.2f ms at worst, up to %zu spans\n", share,
                timing.sum / timing.count * 1e3, timing.worst * 1e3, spans);
  }
  if (!keep) std::filesystem::remove(path);
  return 0;
}
