// Real logs of other people, where they are at hand: the series that were found in them by eye are found by the
// readers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "osler/formats/read.h"
#include "osler/run/role.h"
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

/// The role that a plain name leaves no doubt about.
std::optional<Role> plain_role(const std::string& name) {
  static const std::map<std::string, Role> kPlain = {{"loss", Role::train_loss},
                                                     {"train_loss", Role::train_loss},
                                                     {"train/loss", Role::train_loss},
                                                     {"train_loss_epoch", Role::train_loss},
                                                     {"training_loss", Role::train_loss},
                                                     {"Loss/train", Role::train_loss},
                                                     {"val_loss", Role::validation_loss},
                                                     {"valid_loss", Role::validation_loss},
                                                     {"val/loss", Role::validation_loss},
                                                     {"eval_loss", Role::validation_loss},
                                                     {"eval/loss", Role::validation_loss},
                                                     {"Loss/val", Role::validation_loss},
                                                     {"validation_loss", Role::validation_loss},
                                                     {"accuracy", Role::train_accuracy},
                                                     {"acc", Role::train_accuracy},
                                                     {"train_acc", Role::train_accuracy},
                                                     {"val_accuracy", Role::validation_accuracy},
                                                     {"val_acc", Role::validation_accuracy},
                                                     {"eval_accuracy", Role::validation_accuracy},
                                                     {"lr", Role::learning_rate},
                                                     {"learning_rate", Role::learning_rate},
                                                     {"grad_norm", Role::gradient_norm},
                                                     {"epoch", Role::epoch}};
  const auto known = kPlain.find(name);
  return known == kPlain.end() ? std::nullopt : std::optional(known->second);
}

TEST_P(Corpus, GivesTheSeriesOfItsLabelTheirRoles) {
  const Label& label = GetParam();
  if (label.steps == 0) GTEST_SKIP() << "no numbers in it";
  const auto found = discover(real_file_system(), label.file);
  ASSERT_TRUE(found);
  const auto run = read_run(real_file_system(), found->front());
  ASSERT_TRUE(run);
  const auto roles = RoleMap::infer(*run);
  ASSERT_TRUE(roles);
  for (const std::string& name : label.series) {
    const std::optional<Role> role = plain_role(name);
    if (!role || run->find(name) == nullptr) continue;
    const std::vector<Cast>& cast = roles->in(*role);
    EXPECT_TRUE(std::any_of(cast.begin(), cast.end(), [&](const Cast& one) { return one.series->name() == name; }))
        << name << " is no " << to_string(*role);
  }
}

/// Files of the corpus that give no number are listed with the reason, and nothing else is.
TEST(Corpus, WhatCannotBeReadIsListed) {
  if (!fs::exists(kCorpus / "labels.jsonl")) GTEST_SKIP() << "the corpus of real logs is not here";
  std::ifstream page_file(fs::path(OSLER_SOURCE_DIR) / "docs/formats/unreadable.md");
  const std::string page{std::istreambuf_iterator<char>(page_file), {}};
  std::ifstream labels_file(kCorpus / "labels.jsonl");
  for (std::string line; std::getline(labels_file, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const auto found = discover(real_file_system(), kCorpus / record.at("file").get<std::string>());
    const auto run = found ? read_run(real_file_system(), found->front()) : Result<osler::Run>(found.error());
    const std::string entry = "`" + record.at("id").get<std::string>() + "`";
    EXPECT_EQ(page.find(entry) != std::string::npos, !run.has_value())
        << entry << " " << (run ? "can be read" : describe(run.error()));
  }
}

TEST(Corpus, IsAtHand) {
  if (!fs::exists(kCorpus / "labels.jsonl")) GTEST_SKIP() << "the corpus of real logs is not here";
  EXPECT_GT(labels().size(), 50U);
}

}  // namespace
}  // namespace osler::testing
