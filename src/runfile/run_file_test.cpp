// Run files: what goes in comes out, any window of it, across restarts of the writer, while it is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "run_file_samples.h"
#include "runfile/database.h"
#include "runfile/rows.h"

namespace osler {
namespace {

using runfile::Database;
using runfile::kApplicationId;
using runfile::schema_steps;
using runfile::schema_version;
using testing::add_points;
using testing::expect_same;
using testing::noisy_points;
using testing::Points;
using testing::read_all;
using testing::TestFolder;

RunFileWriter writer_at(const std::filesystem::path& path) {
  auto writer = RunFileWriter::open(path);
  EXPECT_TRUE(writer) << (writer ? "" : describe(writer.error()));
  return std::move(*writer);
}

RunFileReader reader_at(const std::filesystem::path& path) {
  auto reader = RunFileReader::open(path);
  EXPECT_TRUE(reader) << (reader ? "" : describe(reader.error()));
  return std::move(*reader);
}

TEST(RunFile, GivesBackEveryPoint) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  const Points loss = noisy_points(30'000, 1);
  const Points rate = noisy_points(100, 2, -50);
  {
    RunFileWriter writer = writer_at(path);
    const SeriesId first = writer.series("loss");
    const SeriesId second = writer.series("lr");
    for (std::size_t i = 0; i < loss.size(); ++i) {
      add_points(writer, first, {loss[i]});
      if (i < rate.size()) add_points(writer, second, {rate[i]});
      if (i % 997 == 0) {
        ASSERT_TRUE(writer.commit());
      }
    }
    ASSERT_TRUE(writer.close());
  }
  EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal")) << "a closed run file is one file";
  DamageReport damage;
  const auto found = read_all(path, &damage);
  EXPECT_TRUE(damage.empty());
  ASSERT_EQ(found.size(), 2U);
  expect_same(found.at("loss"), loss);
  expect_same(found.at("lr"), rate);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(RunFile, IsAloneInItsFolderAfterItWasRead) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  {
    RunFileWriter writer = writer_at(path);
    add_points(writer, writer.series("loss"), noisy_points(100, 1));
    ASSERT_TRUE(writer.close());
  }
  {
    const RunFileReader first = reader_at(path);
    const RunFileReader second = reader_at(path);
  }
  EXPECT_EQ(names_in(path.parent_path()), (std::vector<std::string>{"a.osler"}));
}

TEST(RunFile, AReaderTakesNothingFromAWriter) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter writer = writer_at(path);
  const Points loss = noisy_points(100, 1);
  add_points(writer, writer.series("loss"), loss);
  ASSERT_TRUE(writer.commit());
  { const RunFileReader reader = reader_at(path); }
  EXPECT_TRUE(std::filesystem::exists(path.string() + "-wal"));
  expect_same(read_all(path).at("loss"), loss);
  ASSERT_TRUE(writer.close());
  EXPECT_EQ(names_in(path.parent_path()), (std::vector<std::string>{"a.osler"}));
}

TEST(RunFile, KeepsMarksConfigurationLayersReportsAndHistograms) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  Histogram histogram{0, 7, 1.7e9, -1, 2, 10, 3.5, 8.25, {-0.5, 0, 0.1, 2}, {1, 2, 3, 4}};
  const std::vector<LayerInfo> layers = {{"fc1", "Linear", {128, 784}, 100352}, {"relu", "ReLU", {}, 0}};
  {
    RunFileWriter writer = writer_at(path);
    writer.config("lr", "0.1");
    writer.config("lr", "0.01");
    writer.config("name", "größer \"x\"");
    writer.add(Mark{Mark::Kind::note, 5, 1.7e9, "hello"});
    writer.add(Mark{Mark::Kind::crashed, 9, kNoTime, ""});
    writer.layers(std::vector<LayerInfo>(5));
    ASSERT_TRUE(writer.commit());
    writer.layers(layers);
    writer.report(8, 1.7e9, R"({"status": "healthy"})");
    histogram.series = writer.series("gradients/fc1");
    for (histogram.step = 0; histogram.step < 100; ++histogram.step) writer.distribution(histogram);
    ASSERT_TRUE(writer.close());
  }
  RunFileReader reader = reader_at(path);
  EXPECT_EQ(reader.name(), "a");
  const auto config = *reader.configuration();
  EXPECT_EQ(config.at("lr"), "0.01");
  EXPECT_EQ(config.at("name"), "größer \"x\"");
  const auto marks = *reader.marks();
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0], (Mark{Mark::Kind::note, 5, 1.7e9, "hello"}));
  EXPECT_EQ(marks[1].kind, Mark::Kind::crashed);
  EXPECT_EQ(*reader.layers(), layers);
  EXPECT_EQ(reader.reports()->at(0).json, R"({"status": "healthy"})");
  EXPECT_EQ(*reader.histogram_names(), std::vector<std::string>{"gradients/fc1"});
  EXPECT_EQ(reader.histograms("gradients/fc1")->size(), 100U);
  const auto some = *reader.histograms("gradients/fc1", {10, 90, 5});
  ASSERT_EQ(some.size(), 5U);
  EXPECT_EQ(some.front().step, 10);
  EXPECT_EQ(some.back().step, 90);
  EXPECT_EQ(some.front().limits, histogram.limits);
  EXPECT_EQ(some.front().counts, histogram.counts);
  EXPECT_EQ(some.front().sum_squares, 8.25);
}

/// Minimum, maximum and counts that a window must show, from the points themselves.
void expect_window(const std::vector<WindowSpan>& spans, const Points& points, const WindowRequest& request) {
  std::uint64_t count = 0;
  std::uint64_t nonfinite = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Point& point : points) {
    if (point.step < request.first_step || point.step > request.last_step) continue;
    ++count;
    if (!std::isfinite(point.value)) {
      ++nonfinite;
      continue;
    }
    low = std::min(low, point.value);
    high = std::max(high, point.value);
  }
  EXPECT_LE(spans.size(), request.most_spans);
  std::uint64_t shown = 0;
  std::uint64_t shown_nonfinite = 0;
  double shown_low = std::numeric_limits<double>::infinity();
  double shown_high = -shown_low;
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  for (const WindowSpan& span : spans) {
    EXPECT_LT(before, span.first_step);
    EXPECT_LE(span.first_step, span.last_step);
    EXPECT_GE(span.first_step, request.first_step);
    EXPECT_LE(span.last_step, request.last_step);
    before = span.first_step;
    shown += span.points;
    shown_nonfinite += span.nonfinite;
    shown_low = std::fmin(shown_low, span.min);
    shown_high = std::fmax(shown_high, span.max);
  }
  EXPECT_EQ(shown, count);
  EXPECT_EQ(shown_nonfinite, nonfinite);
  EXPECT_EQ(shown_low, low);
  EXPECT_EQ(shown_high, high);
}

TEST(RunFile, ServesAnyWindowWithoutLosingASpike) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  const Points points = noisy_points(700'000, 5);
  {
    RunFileWriter writer = writer_at(path);
    const SeriesId series = writer.series("loss");
    for (std::size_t i = 0; i < points.size(); ++i) {
      add_points(writer, series, {points[i]});
      if (i % 9'973 == 0) {
        ASSERT_TRUE(writer.commit());
      }
    }
    ASSERT_TRUE(writer.commit());
    RunFileReader beside = reader_at(path);  // the newest points are not packed yet
    expect_window(*beside.window("loss", {0, 699'999, 100}), points, {0, 699'999, 100});
    ASSERT_TRUE(writer.close());
  }
  RunFileReader reader = reader_at(path);
  for (const WindowRequest& request :
       {WindowRequest{0, 699'999, 50}, WindowRequest{0, 699'999, 2000}, WindowRequest{17, 699'001, 3},
        WindowRequest{123'456, 345'678, 1000}, WindowRequest{5000, 5100, 2000}, WindowRequest{699'990, 900'000, 2000},
        WindowRequest{42, 42, 1}, WindowRequest{-10, 200'000, 10}}) {
    SCOPED_TRACE(std::to_string(request.first_step) + " to " + std::to_string(request.last_step));
    expect_window(*reader.window("loss", request), points, request);
  }
  EXPECT_TRUE(reader.window("loss", {800'000, 900'000, 10})->empty());
  EXPECT_EQ(reader.window("nothing").error().code, ErrorCode::not_found);
  const auto info = reader.series();
  ASSERT_EQ(info->size(), 1U);
  EXPECT_EQ(info->front().points, 700'000U);
  EXPECT_EQ(info->front().last_step, 699'999);
}

TEST(RunFile, TakesFewBytesForSeriesRecordedTogether) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  constexpr std::size_t kSeries = 40;
  constexpr std::size_t kSteps = 20'000;
  {
    RunFileWriter writer = writer_at(path);
    const Points clock = noisy_points(kSteps);
    for (std::size_t s = 0; s < kSeries; ++s) {
      const SeriesId series = writer.series("gradients/layer" + std::to_string(s) + "#norm");
      Points points = noisy_points(kSteps, s + 2);
      for (std::size_t i = 0; i < kSteps; ++i) points[i].wall_time = clock[i].wall_time;
      add_points(writer, series, points);
    }
    ASSERT_TRUE(writer.close());
  }
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  EXPECT_LT(bytes / (kSeries * kSteps), 3.3);
}

TEST(RunFile, IsReadWhileItIsWritten) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter writer = writer_at(path);
  const SeriesId series = writer.series("loss");
  RunFileReader reader = reader_at(path);
  EXPECT_TRUE(reader.series()->empty());
  const Points points = noisy_points(1000);
  add_points(writer, series, points);
  EXPECT_FALSE(*reader.refresh()) << "nothing was committed";
  ASSERT_TRUE(writer.commit());
  EXPECT_TRUE(reader.series()->empty()) << "a reader sees one moment until it asks for the next";
  EXPECT_TRUE(*reader.refresh());
  EXPECT_EQ(reader.window("loss")->size(), 1000U);
  EXPECT_FALSE(*reader.refresh());
  add_points(writer, series, noisy_points(10, 3, 1000));
  ASSERT_TRUE(writer.close());
  EXPECT_TRUE(*reader.refresh());
  EXPECT_EQ(reader.window("loss")->size(), 1010U);
}

TEST(RunFile, TellsAFollowerEachThingOnceWhileItIsWritten) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileOptions options;
  options.most_unpacked = 700;  // so that points wander from the tail into chunks while they are followed
  auto writer = RunFileWriter::open(path, options);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->commit());
  RunFileReader reader = reader_at(path);
  testing::RecordingSink sink;
  EXPECT_FALSE(*reader.read_new(sink));
  const Points loss = noisy_points(12'000, 1);
  const Points rate = noisy_points(120, 2);
  const SeriesId first = writer->series("loss");
  std::optional<SeriesId> second;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    add_points(*writer, first, {loss[i]});
    if (i >= 5000 && i % 50 == 0 && i / 50 < 100 + rate.size()) {
      if (!second) second = writer->series("lr");
      add_points(*writer, *second, {rate[i / 50 - 100]});
    }
    if (i == 3000) writer->config("lr", "0.1");
    if (i == 4000) writer->add(Mark{Mark::Kind::note, 4000, 1.7e9, "hello"});
    if (i == 6000) writer->distribution(Histogram{first, 6000, 1.7e9, 0, 1, 2, 1, 1, {1}, {2}});
    if (i % 331 != 0) continue;
    ASSERT_TRUE(writer->commit());
    EXPECT_TRUE(*reader.read_new(sink));
    EXPECT_FALSE(*reader.read_new(sink)) << "nothing is told twice";
  }
  ASSERT_TRUE(writer->commit());
  ASSERT_TRUE(reader.read_new(sink));
  testing::RecordingSink whole;
  ASSERT_TRUE(reader_at(path).read_events(whole));
  expect_same(testing::points_by_name(sink).at("loss"), loss);
  expect_same(testing::points_by_name(sink).at("lr"), testing::points_by_name(whole).at("lr"));
  EXPECT_EQ(sink.marks, whole.marks);
  EXPECT_EQ(sink.configuration, whole.configuration);
  EXPECT_EQ(sink.histograms.size(), 1U);
}

TEST(RunFile, TellsAFollowerOfARestart) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter writer = writer_at(path);
  const SeriesId loss = writer.series("loss");
  add_points(writer, loss, noisy_points(1000, 1));
  ASSERT_TRUE(writer.commit());
  RunFileReader reader = reader_at(path);
  osler::Run run;
  ASSERT_TRUE(*reader.read_new(run));
  writer.add(Mark{Mark::Kind::restart, 600, 1.8e9, "resumed"});
  add_points(writer, loss, noisy_points(200, 2, 600));
  ASSERT_TRUE(writer.commit());
  ASSERT_TRUE(*reader.read_new(run));
  const auto whole = read_run_file(path);
  ASSERT_TRUE(whole);
  EXPECT_EQ(run.find("loss")->summary().points(), whole->find("loss")->summary().points());
  EXPECT_EQ(run.find("loss")->summary().recent().back().value, whole->find("loss")->summary().recent().back().value);
}

TEST(RunFile, AppendsAfterARestartAndRecordsTheSeam) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  const Points first = noisy_points(1000, 1);
  const Points second = noisy_points(500, 2, 900);
  {
    RunFileWriter writer = writer_at(path);
    add_points(writer, writer.series("loss"), first);
    add_points(writer, writer.series("val_loss"), {{950, 1.7e9, 2.5}});
    ASSERT_TRUE(writer.close());
  }
  {
    RunFileWriter writer = writer_at(path);
    add_points(writer, writer.series("loss"), second);
    ASSERT_TRUE(writer.close());
  }
  RunFileReader reader = reader_at(path);
  const auto marks = *reader.marks();
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].kind, Mark::Kind::restart);
  EXPECT_EQ(marks[0].step, 900);
  Points wanted(first.begin(), first.begin() + 900);
  wanted.insert(wanted.end(), second.begin(), second.end());
  const auto found = read_all(path);
  expect_same(found.at("loss"), wanted);
  EXPECT_EQ(found.count("val_loss"), 0U) << "what came at step 950 was taken back";
  EXPECT_EQ(reader.window("loss")->size(), 1400U);
  EXPECT_TRUE(reader.window("val_loss")->empty());
}

TEST(RunFile, ARestartMarkStartsASegmentToo) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  {
    RunFileWriter writer = writer_at(path);
    const SeriesId series = writer.series("loss");
    add_points(writer, series, noisy_points(100, 1));
    writer.add(Mark{Mark::Kind::restart, 40, 1.8e9, "went back"});
    add_points(writer, series, noisy_points(100, 2, 40));
    ASSERT_TRUE(writer.commit());
    ASSERT_TRUE(writer.close());
  }
  EXPECT_EQ(read_all(path).at("loss").size(), 140U);
  auto run = read_run_file(path);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->find("loss")->summary().points(), 140U);
  EXPECT_EQ(run->format, kRunFileFormat);
}

TEST(RunFile, BringsAnOlderFileUpToDate) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  {
    auto database = Database::open(path, Database::Mode::write);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute(schema_steps()[0]));
    ASSERT_TRUE(
        database->execute("PRAGMA user_version = 1; PRAGMA application_id = " + std::to_string(kApplicationId)));
  }
  EXPECT_TRUE(reader_at(path).histogram_names()->empty()) << "an older file can be read as it is";
  {
    RunFileWriter writer = writer_at(path);
    add_points(writer, writer.series("loss"), noisy_points(10));
  }
  auto database = Database::open(path, Database::Mode::read);
  EXPECT_EQ(*database->ask("PRAGMA user_version"), schema_version());
  EXPECT_EQ(read_all(path).at("loss").size(), 10U);
}

TEST(RunFile, RefusesWhatIsNone) {
  const TestFolder folder;
  const auto newer = folder / "newer.osler";
  {
    RunFileWriter writer = writer_at(newer);
    add_points(writer, writer.series("loss"), noisy_points(10));
  }
  {
    auto database = Database::open(newer, Database::Mode::write);
    ASSERT_TRUE(database->execute("PRAGMA user_version = 99"));
  }
  EXPECT_EQ(RunFileWriter::open(newer).error().code, ErrorCode::unsupported);
  EXPECT_EQ(RunFileReader::open(newer).error().code, ErrorCode::unsupported);
  const auto other = folder / "other.sqlite";
  {
    auto database = Database::open(other, Database::Mode::write);
    ASSERT_TRUE(database->execute("CREATE TABLE t(x)"));
  }
  EXPECT_EQ(RunFileWriter::open(other).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(RunFileReader::open(other).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(RunFileReader::open(folder / "none.osler").error().code, ErrorCode::not_found);
}

TEST(RunFile, TellsWhenAnotherProgramWritesIt) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter first = writer_at(path);
  RunFileWriter second = writer_at(path);
  add_points(second, second.series("loss"), noisy_points(10));
  ASSERT_TRUE(second.commit());
  add_points(first, first.series("loss"), noisy_points(10));
  const auto committed = first.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().message, "another program writes to this run file");
}

}  // namespace
}  // namespace osler
