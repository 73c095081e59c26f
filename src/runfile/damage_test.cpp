// Damaged run files open as far as they are sound, say what is missing, and never show a wrong number.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "run_file_samples.h"

namespace osler {
namespace {

using testing::noisy_points;
using testing::Points;
using testing::RecordingSink;
using testing::same;
using testing::TestFolder;

constexpr std::size_t kSeries = 6;
constexpr std::size_t kPoints = 9'000;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A run file of several series, as bytes.
std::string sample_file(const std::filesystem::path& path) {
  auto writer = RunFileWriter::open(path);
  EXPECT_TRUE(writer);
  for (std::size_t s = 0; s < kSeries; ++s) {
    testing::add_points(*writer, writer->series("series" + std::to_string(s)), noisy_points(kPoints, s));
  }
  writer->config("lr", "0.1");
  writer->add(Mark{Mark::Kind::note, 5, kNoTime, "a mark"});
  EXPECT_TRUE(writer->close());
  return bytes_of(path);
}

/// How many points of a damaged file could be read; every one of them must be as it was recorded.
std::size_t sound_points(const std::filesystem::path& path, const std::vector<Points>& truth, DamageReport& damage) {
  auto reader = RunFileReader::open(path);
  if (!reader) {
    EXPECT_EQ(reader.error().code, ErrorCode::corrupt) << describe(reader.error());
    return 0;
  }
  RecordingSink sink;
  EXPECT_TRUE(reader->read_events(sink));
  damage = reader->damage();
  std::size_t sound = 0;
  for (const Event& event : sink.events) {
    const std::string& name = sink.names[event.series];
    EXPECT_TRUE(name.rfind("series", 0) == 0) << name;
    if (name.find("lost") != std::string::npos) continue;
    const Points& points = truth[static_cast<std::size_t>(name.back() - '0')];
    const auto step = static_cast<std::size_t>(event.step);
    EXPECT_LT(step, points.size());
    if (step >= points.size()) continue;
    EXPECT_TRUE(same(points[step].value, event.value)) << name << " at " << step;
    EXPECT_TRUE(same(points[step].wall_time, event.wall_time));
    ++sound;
  }
  for (const std::string& value : {sink.configuration["lr"]}) EXPECT_TRUE(value.empty() || value == "0.1") << value;
  for (const Mark& mark : sink.marks) EXPECT_EQ(mark.text, "a mark");
  const auto window = reader->window("series0");
  if (window) {
    for (const WindowSpan& span : *window) EXPECT_LE(span.points, span.last_step - span.first_step + 1);
  }
  return sound;
}

std::vector<Points> truth() {
  std::vector<Points> series;
  for (std::size_t s = 0; s < kSeries; ++s) series.push_back(noisy_points(kPoints, s));
  return series;
}

TEST(DamagedRunFile, NeverShowsAWrongNumberWhereverAByteIsFlipped) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  const std::string good = sample_file(path);
  const std::vector<Points> series = truth();
  std::mt19937_64 random(11);
  std::size_t most_lost = 0;
  std::size_t silent = 0;
  for (int i = 0; i < 150; ++i) {
    std::string bad = good;
    // The first pages are all roots and schema: every second flip goes there.
    const std::size_t at = i % 2 == 0 ? random() % bad.size() : random() % (std::size_t{40} * 1024);
    bad[at] = static_cast<char>(bad[at] ^ (1U << (random() % 8)));
    write_bytes(path, bad);
    DamageReport damage;
    const std::size_t sound = sound_points(path, series, damage);
    const std::size_t lost = kSeries * kPoints - sound;
    most_lost = std::max(most_lost, lost);
    if (lost > 0 && damage.empty()) ++silent;
    if (::testing::Test::HasFailure()) FAIL() << "byte " << at;
  }
  // One bit costs at most what one page holds: a few chunks, of one series or of those that share an axis.
  EXPECT_LE(most_lost, kSeries * 4096);
  EXPECT_EQ(silent, 0U);
}

TEST(DamagedRunFile, OpensWhereverItIsCut) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  const std::string good = sample_file(path);
  const std::vector<Points> series = truth();
  std::size_t before = 0;
  for (std::size_t tenth = 1; tenth < 10; ++tenth) {
    write_bytes(path, good.substr(0, good.size() * tenth / 10 + 13));
    DamageReport damage;
    const std::size_t sound = sound_points(path, series, damage);
    EXPECT_GE(sound, before);
    EXPECT_LT(sound, kSeries * kPoints);
    EXPECT_FALSE(damage.empty());
    before = sound;
  }
  EXPECT_GT(before, kSeries * kPoints / 2) << "most of a file that lacks its last tenth is there";
}

TEST(DamagedRunFile, IsReadWithoutItsFirstPage) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  std::string bad = sample_file(path);
  std::fill(bad.begin(), bad.begin() + 4096, '\xA5');
  write_bytes(path, bad);
  DamageReport damage;
  EXPECT_EQ(sound_points(path, truth(), damage), kSeries * kPoints);
  EXPECT_FALSE(damage.empty());
}

TEST(DamagedRunFile, NoiseIsNoRunFile) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  std::mt19937_64 random(1);
  std::string noise;
  for (int i = 0; i < 100'000; ++i) noise.push_back(static_cast<char>(random()));
  write_bytes(path, noise);
  EXPECT_EQ(RunFileReader::open(path).error().code, ErrorCode::corrupt);
  write_bytes(path, "");
  EXPECT_EQ(RunFileReader::open(path).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace osler
