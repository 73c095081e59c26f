// Runs for the tests of run files: what was recorded, and a folder that disappears.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "osler/runfile/reader.h"
#include "osler/runfile/writer.h"
#include "recording_sink.h"

namespace osler::testing {

/// A folder for one test.
class TestFolder {
 public:
  TestFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("osler-" + std::string(test->test_suite_name()) + "-" + test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

using Points = std::vector<Point>;

/// A series such as trainings record: falling, noisy, of 32 bits, with a spike and a NaN now and then.
inline Points noisy_points(std::size_t count, std::uint64_t seed = 1, std::int64_t first_step = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.02);
  Points points;
  double time = 1.7e9;
  for (std::size_t i = 0; i < count; ++i) {
    time += 0.05 + 0.001 * noise(random);
    const auto x = static_cast<double>(i);
    double value = static_cast<float>((0.3 + 3 / (1 + x / 500)) * (1 + noise(random)));
    if (random() % 5000 == 0) value = 1000;
    if (random() % 9000 == 0) value = std::nan("");
    points.push_back({first_step + static_cast<std::int64_t>(i), std::round(time * 1e6) / 1e6, value});
  }
  return points;
}

inline void add_points(EventSink& sink, SeriesId series, const Points& points) {
  for (const Point& point : points) sink.add(Event{series, point.step, point.wall_time, point.value});
}

inline bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// What a sink was told, by series name.
inline std::map<std::string, Points> points_by_name(const RecordingSink& sink) {
  std::map<std::string, Points> found;
  for (const Event& event : sink.events) {
    found[sink.names[event.series]].push_back({event.step, event.wall_time, event.value});
  }
  return found;
}

/// Every point of a run file by series name.
inline std::map<std::string, Points> read_all(const std::filesystem::path& path, DamageReport* damage = nullptr) {
  auto reader = RunFileReader::open(path);
  EXPECT_TRUE(reader) << (reader ? "" : describe(reader.error()));
  if (!reader) return {};
  RecordingSink sink;
  const auto read = reader->read_events(sink);
  EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
  if (damage != nullptr) *damage = reader->damage();
  return points_by_name(sink);
}

inline void expect_same(const Points& found, const Points& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].step, wanted[i].step) << "point " << i;
    ASSERT_TRUE(same(found[i].value, wanted[i].value)) << "point " << i;
    ASSERT_TRUE(same(found[i].wall_time, wanted[i].wall_time)) << "point " << i;
  }
}

}  // namespace osler::testing
