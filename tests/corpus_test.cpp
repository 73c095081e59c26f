// Real logs of other people, where they are at hand: the series that were found in them by eye are found by the
// readers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "osler/formats/read.h"
#include "recording_sink.h"

namespace osler::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(OSLER_SOURCE_DIR) / "../shared/corpus";

/// What the annotator called the formats, and what we call them; other files are not looked at here.
const std::map<std::string, std::string> kFormats = {
    {"chainer_log", "json"},
    {"detectron2_json", "json-lines"},
    {"hf_trainer_state", "hf-trainer-state"},
    {"jsonl", "json-lines"},
    {"keras_csv", "csv"},
    {"lightning_csv", "csv"},
    {"mlflow", "mlflow"},
    {"mm_log_json", "json-lines"},
    {"plain_csv", "csv"},
    {"rl_monitor_csv", "csv"},
    {"rl_progress_csv", "csv"},
    {"tfevents", "tensorboard"},
    {"yolo_csv", "csv"},
};

struct Label {
  std::string id;
  fs::path file;
  std::string format;
  std::size_t steps = 0;
  std::vector<std::string> series;
};

void PrintTo(const Label& label, std::ostream* out) {
  *out << label.file.string();
}

std::vector<Label> labels() {
  std::vector<Label> found;
  std::ifstream file(kCorpus / "labels.jsonl");
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const auto format = kFormats.find(record.at("format").get<std::string>());
    if (format == kFormats.end()) continue;
    found.push_back({record.at("id"), kCorpus / record.at("file").get<std::string>(), format->second,
                     record.at("steps"), record.at("series")});
  }
  return found;
}

/// Columns that count become the axis and are no series.
bool is_counter(const std::string& name) {
  constexpr std::array<std::string_view, 7> kCounters = {"epoch",         "iter",        "iteration", "steps",
                                                         "current_steps", "total_steps", "frame"};
  const std::string last = name.substr(name.rfind('/') + 1);
  return std::find(kCounters.begin(), kCounters.end(), last) != kCounters.end();
}

class Corpus : public ::testing::TestWithParam<Label> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Corpus);
INSTANTIATE_TEST_SUITE_P(All, Corpus, ::testing::ValuesIn(labels()), [](const auto& info) {
  std::string name = info.param.id;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(Corpus, IsReadWithTheSeriesThatWereSeenInIt) {
  const Label& label = GetParam();
  const auto found = discover(real_file_system(), label.file);
  ASSERT_TRUE(found) << describe(found.error());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().files.front().format->id, label.format);
  RecordingSink sink;
  DamageReport damage;
  const auto read = read_events(real_file_system(), found->front(), sink, damage);
  // Files without a number are in the corpus too; they must say so.
  ASSERT_EQ(read.has_value(), label.steps > 0);

  std::vector<std::size_t> points(sink.names.size());
  for (const Event& event : sink.events) ++points[event.series];
  for (const std::string& name : label.series) {
    const auto known = std::find(sink.names.begin(), sink.names.end(), name);
    EXPECT_TRUE(known != sink.names.end() || is_counter(name)) << name;
  }
  if (label.steps == 0) return;
  EXPECT_GE(*std::max_element(points.begin(), points.end()) * 10, label.steps * 9);
}

TEST(Corpus, IsAtHand) {
  if (!fs::exists(kCorpus / "labels.jsonl")) GTEST_SKIP() << "the corpus of real logs is not here";
  EXPECT_GT(labels().size(), 50U);
}

}  // namespace
}  // namespace osler::testing
