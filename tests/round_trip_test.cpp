// Every sample of every format, through each format that `osler convert` writes, and back: series, wall times,
// configuration, marks and histograms are what they were. What honestly cannot be is excused here, with its reason.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "cli/program.h"
#include "osler/formats/read.h"
#include "osler/runfile/reader.h"
#include "osler/runfile/writer.h"
#include "osler/source/source.h"
#include "recording_sink.h"
#include "samples/sample.h"

namespace osler {
namespace {

namespace fs = std::filesystem;
using testing::all_samples;
using testing::RecordingSink;
using testing::Sample;

/// A format that is written, and what it has a place for.
struct Target {
  const char* id = "";
  const char* extension = "";
  bool settings = false;  ///< configuration
  bool numbers = false;   ///< numbers in it are numbers, not text: 1.0 may come back as 1
  bool marks = false;     ///< restarts, notes
  bool ends = false;      ///< marks of the end
  bool histograms = false;
  bool rows = false;     ///< the values of a step share the first wall time
  bool utf8 = false;     ///< names are UTF-8, whatever they were
  bool settled = false;  ///< what a restart took back is gone
};
constexpr Target kTargets[] = {
    {.id = "csv", .extension = ".csv", .rows = true},
    {.id = "jsonl", .extension = ".jsonl", .settings = true, .marks = true, .ends = true, .rows = true, .utf8 = true},
    {.id = "osler",
     .extension = ".osler",
     .settings = true,
     .marks = true,
     .ends = true,
     .histograms = true,
     .settled = true},
    {.id = "tensorboard", .extension = "", .settings = true, .marks = true, .ends = true, .histograms = true},
    {.id = "wandb",
     .extension = "",
     .settings = true,
     .numbers = true,
     .ends = true,
     .histograms = true,
     .rows = true}};

/// How GoogleTest shows a target.
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.id;
}

/// A run as it is told, by the names of its series.
struct Told {
  std::map<std::string, std::vector<Event>> series;
  std::map<std::string, std::string> settings;
  std::vector<Mark> marks;
  std::map<std::string, std::vector<Histogram>> histograms;
};

Told told(const RecordingSink& sink) {
  Told run;
  for (const Event& event : sink.events) run.series[sink.names[event.series]].push_back(event);
  for (const auto& [key, value] : sink.configuration) run.settings[key] = value;
  run.marks = sink.marks;
  for (const Histogram& histogram : sink.histograms) run.histograms[sink.names[histogram.series]].push_back(histogram);
  return run;
}

RecordingSink read_source_events(const Source& source) {
  RecordingSink sink;
  if (source.run_file.empty()) {
    DamageReport damage;
    static_cast<void>(read_events(real_file_system(), source.log, sink, damage));  // a log that is cut off has an error
  } else {
    auto reader = RunFileReader::open(source.run_file);
    EXPECT_TRUE(reader && reader->read_events(sink));
  }
  return sink;
}

/// The values of a step that follow each other make a row with one time; a series that comes again begins the next.
void share_times(RecordingSink& sink) {
  for (std::size_t first = 0; first < sink.events.size();) {
    std::vector<bool> seen(sink.names.size(), false);
    std::size_t last = first;
    double time = kNoTime;
    for (; last < sink.events.size(); ++last) {
      const Event& event = sink.events[last];
      if (event.step != sink.events[first].step || seen[event.series]) break;
      seen[event.series] = true;
      if (std::isnan(time)) time = event.wall_time;
    }
    for (; first < last; ++first) sink.events[first].wall_time = time;
  }
}

bool restarts(const RecordingSink& sink) {
  return std::any_of(sink.marks.begin(), sink.marks.end(),
                     [](const Mark& mark) { return mark.kind == Mark::Kind::restart; });
}

/// Leaves what counts of a run after its restarts.
void settle(RecordingSink& sink, const Source& source) {
  const auto run = read_source(real_file_system(), source);
  ASSERT_TRUE(run);
  sink.events.clear();
  for (SeriesId id = 0; id < sink.names.size(); ++id) {
    const Series* series = run->find(sink.names[id]);
    if (series == nullptr) continue;
    for (const Point& point : series->summary().recent()) {
      sink.events.push_back({id, point.step, point.wall_time, point.value});
    }
  }
}

std::string as_utf8(const std::string& name) {
  const auto text = nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(text).get<std::string>();
}

/// The same number, bit by bit or both NaN.
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Wall times are written to the microsecond.
bool same_time(double a, double b) {
  return same(a, b) || std::abs(a - b) < 2e-6;
}

/// The same text, or the same number where numbers are kept as such.
bool same_setting(const std::string& a, const std::string& b, bool numbers) {
  if (a == b) return true;
  const auto number = [](const std::string& text) {
    double value = kNoTime;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size() ? value : kNoTime;
  };
  return numbers && number(a) == number(b);
}

void compare_series(const Told& before, const Told& after, const Target& target) {
  std::size_t expected = 0;
  for (const auto& [raw, values] : before.series) {
    const std::string name = target.utf8 ? as_utf8(raw) : raw;
    ++expected;
    ASSERT_TRUE(after.series.contains(name)) << "the series " << name << " is lost";
    const std::vector<Event>& now = after.series.at(name);
    ASSERT_EQ(now.size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(now[i].step, values[i].step) << name << ", point " << i;
      ASSERT_TRUE(same(now[i].value, values[i].value)) << name << " at step " << now[i].step;
      ASSERT_TRUE(same_time(now[i].wall_time, values[i].wall_time))
          << fmt::format("{} at step {}: {} was {}", name, now[i].step, now[i].wall_time, values[i].wall_time);
    }
  }
  EXPECT_EQ(after.series.size(), expected) << "a series has come from nowhere";
}

void compare_settings(const Told& before, const Told& after, const Target& target) {
  if (target.settings) {
    for (const auto& [key, value] : before.settings) {
      ASSERT_TRUE(after.settings.contains(key)) << "the setting " << key << " is lost";
      EXPECT_TRUE(same_setting(value, after.settings.at(key), target.numbers))
          << key << " = " << value << " came back as " << after.settings.at(key);
    }
  }
  for (const auto& [key, value] : after.settings) {
    // No W&B run is without an id, a name and a project.
    EXPECT_TRUE(before.settings.contains(key) || key.starts_with("wandb/")) << key << " has come from nowhere";
  }
}

void compare_marks(const Told& before, const Told& after, const Target& target) {
  std::vector<Mark> expected;
  std::copy_if(before.marks.begin(), before.marks.end(), std::back_inserter(expected), [&](const Mark& mark) {
    const bool end = mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed;
    return end ? target.ends : target.marks;
  });
  ASSERT_EQ(after.marks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(after.marks[i].kind, expected[i].kind);
    EXPECT_EQ(after.marks[i].step, expected[i].step);
    EXPECT_EQ(after.marks[i].text, expected[i].text);
  }
}

void compare_histograms(const Told& before, const Told& after) {
  ASSERT_EQ(after.histograms.size(), before.histograms.size());
  for (const auto& [name, all] : before.histograms) {
    ASSERT_TRUE(after.histograms.contains(name)) << "the histograms of " << name << " are lost";
    const std::vector<Histogram>& now = after.histograms.at(name);
    ASSERT_EQ(now.size(), all.size()) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Histogram expected = all[i];
      EXPECT_TRUE(same_time(now[i].wall_time, expected.wall_time)) << name;
      expected.series = now[i].series;
      expected.wall_time = now[i].wall_time;
      if (std::isnan(expected.wall_time)) continue;  // equal to nothing, not even itself
      EXPECT_EQ(now[i], expected) << name << " at step " << now[i].step;
    }
  }
}

void expect_the_same(const Source& source, const fs::path& path, const Target& target) {
  const Sources back = find_sources(real_file_system(), {path.string()});
  ASSERT_EQ(back.runs.size(), 1U);
  RecordingSink sink = read_source_events(source);
  RecordingSink again = read_source_events(back.runs.front());
  if (target.rows) share_times(sink);
  if (target.settled && restarts(sink)) {
    settle(sink, source);
    settle(again, back.runs.front());
  }
  const Told before = told(sink);
  const Told after = told(again);
  compare_series(before, after, target);
  compare_settings(before, after, target);
  compare_marks(before, after, target);
  if (target.histograms) compare_histograms(before, after);
}

int convert(const std::string& from, const std::string& to, const Target& target) {
  const char* words[] = {"osler", "convert", from.c_str(), "-o", to.c_str(), "--to", target.id};
  ::testing::internal::CaptureStderr();
  const int code = cli::run_program(static_cast<int>(std::size(words)), words);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(code == cli::kFine || said.find("no numbers were found") != std::string::npos) << said;
  return code;
}

class RoundTrip : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           (std::string("osler-round-trip-") + GetParam().id + "-" + std::to_string(::getpid()));
};

TEST_P(RoundTrip, GivesEverySampleBack) {
  const Target& target = GetParam();
  std::size_t number = 0;
  std::size_t converted = 0;
  for (const Sample& sample : all_samples()) {
    SCOPED_TRACE(sample.path.string());
    const Sources inputs = find_sources(real_file_system(), {sample.path.string()});
    const bool alone = inputs.runs.size() == 1;
    const fs::path out = folder_ / (std::to_string(number++) + (alone ? target.extension : ""));
    // What has no numbers, as a file of settings, cannot be converted.
    if (convert(sample.path.string(), out.string(), target) != cli::kFine) continue;
    for (const Source& source : inputs.runs) {
      std::string name = source.name;
      std::replace(name.begin(), name.end(), '/', '-');
      expect_the_same(source, alone ? out : out / (name + target.extension), target);
      ++converted;
    }
  }
  EXPECT_GT(converted, number * 9 / 10);
}

/// Names that a format has a meaning of its own for, or that look like steps, are series where they were series.
TEST_P(RoundTrip, GivesOddNamesBack) {
  const Target& target = GetParam();
  const std::vector<std::string> names = {
      "loss",  "_runtime", "_private/x", "train/n_updates", "time/iterations", "ms/step", "global_step_rate",
      "epoch", "a,b",      "say \"x\"",  "#mean",           "values",          "config",  "summary/loss",
      "mark"};
  {
    auto writer = RunFileWriter::open(folder_ / "in.osler");
    ASSERT_TRUE(writer);
    for (std::int64_t step = 0; step < 30; ++step) {
      double value = 3;
      for (const std::string& name : names) {
        writer->add(Event{writer->series(name), 10 * step, 1.7e9 + static_cast<double>(step), value});
        value += 0.25 * static_cast<double>(step);
      }
    }
    ASSERT_TRUE(writer->close());
  }
  const fs::path out = folder_ / (std::string("out") + target.extension);
  ASSERT_EQ(convert((folder_ / "in.osler").string(), out.string(), target), cli::kFine);
  const Sources inputs = find_sources(real_file_system(), {(folder_ / "in.osler").string()});
  ASSERT_EQ(inputs.runs.size(), 1U);
  expect_the_same(inputs.runs.front(), out, target);
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundTrip, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param.id); });

}  // namespace
}  // namespace osler
