// What sinks write, the formats read: all of them tell the same run.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "osler/formats/read.h"
#include "osler/recorder/sink_feed.h"
#include "osler/runfile/reader.h"
#include "recorded_run.h"
#include "recording_sink.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using testing::recorded_run;
using testing::RecordedRun;
using testing::RecordedSeries;
using testing::RecordingSink;
using testing::TestFolder;

/// Keeps histograms too, by name.
class HistogramSink final : public EventSink {
 public:
  SeriesId series(std::string_view name) override { return numbers.series(name); }
  void add(const Event& event) override { numbers.add(event); }
  void add(Mark mark) override { numbers.add(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { numbers.config(key, value); }
  void distribution(const Histogram& histogram) override {
    histograms[numbers.names[histogram.series]].push_back(histogram);
  }

  RecordingSink numbers;
  std::map<std::string, std::vector<Histogram>> histograms;
};

HistogramSink read_back(const std::filesystem::path& path, const std::string& format) {
  HistogramSink sink;
  const auto sources = discover(real_file_system(), path);
  EXPECT_TRUE(sources) << (sources ? "" : describe(sources.error()));
  if (!sources) return sink;
  EXPECT_EQ(sources->size(), 1U);
  DamageReport damage;
  const auto read = read_events(real_file_system(), sources->front(), sink, damage);
  EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
  EXPECT_TRUE(damage.empty()) << damage.items().front().what;
  bool found = false;
  for (const SourceFile& file : sources->front().files) found = found || file.format->id == format;
  EXPECT_TRUE(found) << "is recognised as " << format;
  return sink;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void expect_series(const RecordingSink& found, const RecordedRun& run, bool narrow = false) {
  for (const RecordedSeries& series : run.series) {
    SCOPED_TRACE(series.name);
    std::vector<Event> events;
    for (const Event& event : found.events) {
      if (found.names[event.series] == series.name) events.push_back(event);
    }
    ASSERT_EQ(events.size(), series.events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& wanted = series.events[i];
      ASSERT_EQ(events[i].step, wanted.step);
      const double value = narrow ? static_cast<float>(wanted.value) : wanted.value;
      ASSERT_TRUE(same(events[i].value, value)) << events[i].value << " against " << value << " at " << wanted.step;
      ASSERT_NEAR(events[i].wall_time, wanted.wall_time, 1e-6);
    }
  }
}

Result<void> write_with(const RecordedRun& run, Result<SinkPointer> sink) {
  if (!sink) return sink.error();
  std::vector<SinkPointer> sinks;
  sinks.push_back(std::move(*sink));
  return testing::record(run, std::move(sinks));
}

TEST(Sinks, TheRunFileTellsTheRunAgain) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, run_file_sink(folder / "a.osler")));
  auto reader = RunFileReader::open(folder / "a.osler");
  ASSERT_TRUE(reader);
  HistogramSink found;
  ASSERT_TRUE(reader->read_events(found));
  expect_series(found.numbers, run);
  EXPECT_EQ(found.numbers.configuration.at("model"), run.config[1].second);
  ASSERT_EQ(found.histograms.at("weights/block.0.weight").size(), 3U);
  EXPECT_EQ(found.histograms.at("weights/block.0.weight")[1].counts, run.histograms[1].second.counts);
  ASSERT_EQ(found.numbers.marks.size(), 1U);
  EXPECT_EQ(found.numbers.marks[0].kind, Mark::Kind::finished);
}

TEST(Sinks, TensorBoardTellsTheRunAgainInItsOwnPrecision) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, tensorboard_sink(real_file_system(), folder / "tb")));
  const HistogramSink found = read_back(folder / "tb", "tensorboard");
  expect_series(found.numbers, run, true);
  EXPECT_EQ(found.numbers.configuration.at("model"), run.config[1].second);
  ASSERT_EQ(found.numbers.marks.size(), 1U);
  EXPECT_EQ(found.numbers.marks[0].kind, Mark::Kind::finished);
  EXPECT_EQ(found.numbers.marks[0].step, 300);
  EXPECT_EQ(found.numbers.marks[0].text, "done");
  const Histogram& histogram = found.histograms.at("weights/block.0.weight").at(2);
  const Histogram& wanted = run.histograms[2].second;
  EXPECT_EQ(histogram.step, wanted.step);
  EXPECT_EQ(histogram.limits, wanted.limits);
  EXPECT_EQ(histogram.counts, wanted.counts);
  EXPECT_EQ(histogram.sum_squares, wanted.sum_squares);
}

TEST(Sinks, ARunFileBecomesTensorBoardAndComesBackTheSame) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, run_file_sink(folder / "a.osler")));
  auto reader = RunFileReader::open(folder / "a.osler");
  ASSERT_TRUE(reader);
  TensorBoardOptions options;
  options.exact = true;
  auto sink = tensorboard_sink(real_file_system(), folder / "tb", options);
  ASSERT_TRUE(sink);
  SinkFeed feed(std::move(*sink));
  ASSERT_TRUE(reader->read_events(feed));
  ASSERT_TRUE(feed.close());
  expect_series(read_back(folder / "tb", "tensorboard").numbers, run);
}

TEST(Sinks, WhatAHistogramTellsComesBackFromTensorBoardOnce) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, tensorboard_sink(real_file_system(), folder / "one")));
  const auto copied = [&](const char* from, const char* to) {
    auto sink = tensorboard_sink(real_file_system(), folder / to);
    ASSERT_TRUE(sink);
    SinkFeed feed(std::move(*sink));
    DamageReport damage;
    ASSERT_TRUE(read_events(real_file_system(), discover(real_file_system(), folder / from)->front(), feed, damage));
    ASSERT_TRUE(feed.close());
  };
  copied("one", "two");
  copied("two", "three");
  const auto means = [&](const char* name) {
    const HistogramSink found = read_back(folder / name, "tensorboard");
    EXPECT_EQ(found.histograms.at("weights/block.0.weight").size(), run.histograms.size()) << name;
    std::vector<double> values;
    for (const Event& event : found.numbers.events) {
      if (found.numbers.names[event.series] == "weights/block.0.weight#mean") values.push_back(event.value);
    }
    return values;
  };
  EXPECT_EQ(means("one").size(), run.histograms.size());
  EXPECT_EQ(means("two").size(), run.histograms.size());
  EXPECT_EQ(means("three").size(), run.histograms.size());
}

TEST(Sinks, CsvTellsTheRunAgain) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, csv_sink(real_file_system(), folder / "run.csv")));
  expect_series(read_back(folder / "run.csv", "csv").numbers, run);
}

TEST(Sinks, CsvGrowsAColumnWhenASeriesAppearsLater) {
  const TestFolder folder;
  const auto path = folder / "run.csv";
  auto sink = csv_sink(real_file_system(), path);
  ASSERT_TRUE(sink);
  const std::vector<std::string> names = {"loss", "val, \"loss\""};
  const std::vector<Event> first = {{0, 1, 10, 0.5}, {0, 2, 11, 0.25}};
  const std::vector<Event> second = {{0, 3, 12, 0.125}, {1, 3, 12, 9}};
  ASSERT_TRUE((*sink)->write({std::span(names).first(1), {}, {}, {}, {}, first}));
  ASSERT_TRUE((*sink)->write({names, {}, {}, {}, {}, second}));
  ASSERT_TRUE((*sink)->close());
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text,
            "step,wall_time,loss,\"val, \"\"loss\"\"\"\n1,10.000000,0.5,\n2,11.000000,0.25,\n3,12.000000,0.125,9\n");
}

TEST(Sinks, JsonLinesTellTheRunAgain) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  ASSERT_TRUE(write_with(run, jsonl_sink(real_file_system(), folder / "run.jsonl")));
  const HistogramSink found = read_back(folder / "run.jsonl", "json-lines");
  expect_series(found.numbers, run);
  EXPECT_EQ(found.numbers.configuration.at("lr"), "0.1");
}

/// Twenty rows with two counters beside the step and a loss, as reinforcement learning logs them, without times.
void write_counters(Result<SinkPointer> sink) {
  ASSERT_TRUE(sink);
  SinkFeed feed(std::move(*sink));
  for (int i = 1; i <= 20; ++i) {
    for (const char* name : {"time/iterations", "train/n_updates", "train/loss"}) {
      feed.add(Event{feed.series(name), 2048 * i, kNoTime, 10.0 * i});
    }
  }
  ASSERT_TRUE(feed.close());
}

void expect_counters(const RecordingSink& found) {
  for (const char* name : {"time/iterations", "train/n_updates", "train/loss"}) {
    EXPECT_EQ(found.steps(name).size(), 20U) << name;
    EXPECT_EQ(found.steps(name).front(), 2048) << name;
  }
}

TEST(Sinks, JsonLinesWithoutTimesKeepCountersAsTheSeriesThatTheyAre) {
  const TestFolder folder;
  write_counters(jsonl_sink(real_file_system(), folder / "run.jsonl"));
  expect_counters(read_back(folder / "run.jsonl", "json-lines").numbers);
}

TEST(Sinks, WandbKeepsCountersAsTheSeriesThatTheyAre) {
  const TestFolder folder;
  WandbOptions options;
  options.id = "abcd1234";
  options.wall_time = 1.7e9;
  write_counters(wandb_sink(real_file_system(), folder / "out", options));
  expect_counters(read_back(folder / "out", "wandb").numbers);
}

TEST(Sinks, WandbTellsTheRunAgain) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  WandbOptions options;
  options.id = "abcd1234";
  options.name = "recorded";
  options.wall_time = 1.7e9;
  ASSERT_TRUE(write_with(run, wandb_sink(real_file_system(), folder / "out", options)));
  const HistogramSink found = read_back(folder / "out", "wandb");
  expect_series(found.numbers, run);
  EXPECT_EQ(found.numbers.configuration.at("lr"), "0.1");
  ASSERT_FALSE(found.numbers.marks.empty());
  EXPECT_EQ(found.numbers.marks.back().kind, Mark::Kind::finished);
}

TEST(Sinks, WriteSeveralAtATimeAndAllAgree) {
  const TestFolder folder;
  const RecordedRun run = recorded_run();
  std::vector<SinkPointer> sinks;
  const auto take = [&](Result<SinkPointer> made) {
    ASSERT_TRUE(made);
    sinks.push_back(std::move(*made));
  };
  take(run_file_sink(folder / "a.osler"));
  take(csv_sink(real_file_system(), folder / "run.csv"));
  take(jsonl_sink(real_file_system(), folder / "run.jsonl"));
  ASSERT_TRUE(testing::record(run, std::move(sinks)));
  RecordingSink from_file;
  ASSERT_TRUE(RunFileReader::open(folder / "a.osler")->read_events(from_file));
  expect_series(from_file, run);
  expect_series(read_back(folder / "run.csv", "csv").numbers, run);
  expect_series(read_back(folder / "run.jsonl", "json-lines").numbers, run);
}

}  // namespace
}  // namespace osler
