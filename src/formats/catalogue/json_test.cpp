// JSON lines and JSON documents as trainers write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reading.h"

namespace osler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Outcome read_lines(std::string_view text) {
  return testing::read_whole_text(*find_format("json-lines"), "log.jsonl", text);
}
Outcome read_document(std::string_view text) {
  return testing::read_whole_text(*find_format("json"), "history.json", text);
}
Sniff sniff(const char* id, std::string_view text, const char* path = "log.json") {
  return find_format(id)->sniff({path, text, true});
}

TEST(JsonLines, AreTheOnlyOnesToClaimLinesOfObjects) {
  const char* text = "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": NaN}\n";
  EXPECT_EQ(sniff("json-lines", text), Sniff::certain);
  EXPECT_EQ(sniff("json", text), Sniff::no);
}

TEST(JsonLines, FlattenNestedObjectsAndShortArrays) {
  const Outcome outcome = read_lines(
      "{\"step\": 1, \"train\": {\"loss\": 2.5, \"parts\": [1, 2]}}\n{\"step\": 2, \"train\": {\"loss\": 1.5, "
      "\"parts\": [3, 4]}}\n");
  EXPECT_THAT(outcome.sink.names, ElementsAre("train/loss", "train/parts/0", "train/parts/1"));
  EXPECT_THAT(outcome.sink.values("train/parts/1"), ElementsAre(2, 4));
  EXPECT_THAT(outcome.sink.steps("train/loss"), ElementsAre(1, 2));
}

TEST(JsonLines, LeaveLongArraysOut) {
  std::string text = "{\"step\": 1, \"histogram\": [0";
  for (int i = 0; i < 100; ++i) text += ",1";
  text += "], \"loss\": 1}\n";
  EXPECT_THAT(read_lines(text).sink.names, ElementsAre("loss"));
}

TEST(JsonLines, ReadNonFiniteLiteralsAndNumbersInQuotes) {
  const Outcome outcome = read_lines(
      "{\"step\": \"1\", \"loss\": NaN, \"lr\": \"1e-4\"}\n{\"step\": \"2\", \"loss\": -Infinity, \"lr\": \"1e-5\"}\n"
      "{\"step\": \"3\", \"loss\": Infinity, \"lr\": null}\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::isnan(outcome.sink.values("loss")[0]));
  EXPECT_EQ(outcome.sink.values("loss")[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(outcome.sink.values("loss")[2], std::numeric_limits<double>::infinity());
  EXPECT_THAT(outcome.sink.values("lr"), ElementsAre(1e-4, 1e-5));
  EXPECT_TRUE(outcome.damage.empty());
}

TEST(JsonLines, SayThatTheLastOnesHaveNoValue) {
  std::string text;
  for (int step = 0; step < 60; ++step) {
    text += "{\"step\": " + std::to_string(step) + ", \"loss\": " + (step < 30 ? "0.5" : "null") + "}\n";
  }
  const Outcome outcome = read_lines(text);
  ASSERT_EQ(outcome.damage.total(), 1U);
  EXPECT_THAT(outcome.damage.items().front().what, HasSubstr("the last 30 rows have a step and no value"));
  EXPECT_EQ(outcome.damage.items().front().line, 31U);
}

TEST(JsonLines, GoOnBehindADamagedLine) {
  const Outcome outcome =
      read_lines("{\"step\": 1, \"loss\": 3}\n{\"step\": 2, \"lo\nhello\n{\"step\": 3, \"loss\": 1}\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 3));
  ASSERT_THAT(outcome.damage.items(), SizeIs(2));
  EXPECT_EQ(outcome.damage.items()[0].line, 2U);
  EXPECT_EQ(outcome.damage.items()[1].what, "'hello' is no JSON object");
}

TEST(JsonLines, MayHoldSeveralObjectsEach) {
  const Outcome outcome =
      read_lines("{\"step\": 1, \"loss\": 3}{\"step\": 2, \"loss\": 4}\n{\"step\": 3, \"loss\": 1}\n");
  EXPECT_EQ(outcome.damage.total(), 0U);
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2, 3));
}

TEST(JsonLines, ThatHoldSettingsAreConfiguration) {
  const Outcome outcome = read_lines(
      "{\"config\": {\"lr\": \"1e-3\", \"model\": {\"width\": 512}}}\n{\"step\": 1, \"loss\": 3}\n"
      "{\"step\": 2, \"loss\": 2}\n{\"_summary\": {\"final_loss\": 2}}\n{\"type\": \"config\", \"seed\": 7}\n");
  EXPECT_THAT(outcome.sink.names, ElementsAre("loss"));
  EXPECT_EQ(outcome.sink.configuration.at("lr"), "1e-3");
  EXPECT_EQ(outcome.sink.configuration.at("model/width"), "512");
  EXPECT_EQ(outcome.sink.configuration.at("summary/final_loss"), "2");
  EXPECT_EQ(outcome.sink.configuration.at("seed"), "7");
}

TEST(JsonLines, ThatOslerWroteGiveBackMarksAndCounters) {
  const Outcome outcome = read_lines(
      "{\"mark\": \"crashed\", \"at\": \"step 9\", \"text\": \"out of memory\"}\n"
      "{\"step\": 1, \"wall_time\": 1700000000.500000, \"n_updates\": 10, \"loss\": 3}\n"
      "{\"step\": 2, \"wall_time\": 1700000001.500000, \"n_updates\": 20, \"loss\": 2}\n");
  ASSERT_THAT(outcome.sink.marks, SizeIs(1));
  EXPECT_EQ(outcome.sink.marks[0].kind, Mark::Kind::crashed);
  EXPECT_EQ(outcome.sink.marks[0].step, 9);
  EXPECT_THAT(outcome.sink.values("n_updates"), ElementsAre(10, 20));
}

TEST(JsonLines, SurviveBrokenUtf8) {
  const Outcome outcome =
      read_lines("{\"step\": 1, \"name\": \"\xB2\xBD\", \"loss\": 3}\n{\"step\": 2, \"loss\": 2}\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2));
}

TEST(JsonLines, ReadPhasesAndDescriptions) {
  // The shape of mmdetection's *.log.json.
  const Outcome outcome = read_lines(
      "{\"env_info\": \"sys.platform: linux\", \"seed\": null}\n"
      "{\"mode\": \"train\", \"epoch\": 1, \"iter\": 50, \"loss\": 2.0, \"time\": 0.3}\n"
      "{\"mode\": \"train\", \"epoch\": 1, \"iter\": 100, \"loss\": 1.5, \"time\": 0.3}\n"
      "{\"mode\": \"val\", \"epoch\": 1, \"iter\": 7, \"mAP\": 0.1}\n"
      "{\"mode\": \"train\", \"epoch\": 2, \"iter\": 50, \"loss\": 1.2, \"time\": 0.3}\n");
  EXPECT_THAT(outcome.sink.steps("train/loss"), ElementsAre(50, 100, 150));
  EXPECT_THAT(outcome.sink.steps("val/mAP"), ElementsAre(100));
  EXPECT_EQ(outcome.sink.configuration.at("env_info"), "sys.platform: linux");
}

TEST(JsonLines, ManyKeysInAnyOrder) {
  std::string text;
  for (int line = 0; line < 3; ++line) {
    text += "{\"step\": " + std::to_string(line);
    for (int key = 0; key < 1000; ++key) {
      const int shown = line == 1 ? 999 - key : key;
      text += ", \"k" + std::to_string(shown) + "\": " + std::to_string(shown);
    }
    text += "}\n";
  }
  const Outcome outcome = read_lines(text);
  EXPECT_THAT(outcome.sink.names, SizeIs(1000));
  EXPECT_THAT(outcome.sink.values("k7"), ElementsAre(7, 7, 7));
}

TEST(Json, ReadsAnArrayOfRecords) {
  const char* text =
      "[\n  {\"iteration\": 100, \"epoch\": 1, \"main/loss\": 2.5},\n"
      "  {\"iteration\": 200, \"epoch\": 2, \"main/loss\": NaN}\n]\n";
  EXPECT_EQ(sniff("json", text), Sniff::possible);
  const Outcome outcome = read_document(text);
  EXPECT_THAT(outcome.sink.steps("main/loss"), ElementsAre(100, 200));
  EXPECT_TRUE(std::isnan(outcome.sink.values("main/loss")[1]));
}

TEST(Json, ReadsAHistoryOfArrays) {
  const Outcome outcome = read_document("{\"loss\": [3, 2, 1], \"val_loss\": [3.5, null, 1.5]}");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(0, 1, 2));
  EXPECT_THAT(outcome.sink.steps("val_loss"), ElementsAre(0, 2));
}

TEST(Json, ReadsAHistoryInPythonsNotation) {
  const char* text =
      "{'loss': [0.69, 0.5e-1, nan], 'val_loss': [np.float32(0.7), array(0.6, dtype=float32), 0.5], 'best': None}\n";
  EXPECT_EQ(sniff("json", text, "history.txt"), Sniff::certain);
  const Outcome outcome = read_document(text);
  EXPECT_THAT(outcome.sink.names, ElementsAre("loss", "val_loss"));
  EXPECT_THAT(outcome.sink.values("val_loss"), ElementsAre(0.7, 0.6, 0.5));
  EXPECT_THAT(outcome.sink.values("loss"), SizeIs(3));

  const char* printed = "{'loss': 0.69, 'epoch': 0.1}\n{'loss': 0.61, 'epoch': 0.2}\n";
  EXPECT_EQ(sniff("json", printed, "train.log"), Sniff::no) << "a trainer's lines are text";
}

TEST(Json, NamesNestedHistoriesByTheirKeys) {
  const Outcome outcome = read_document(
      "{\"history\": {\"validation_0\": {\"logloss\": [1, 2]}, \"validation_1\": {\"logloss\": [3, 4]}}}");
  EXPECT_THAT(outcome.sink.names, UnorderedElementsAre("validation_0/logloss", "validation_1/logloss"));
}

TEST(Json, AlignsEpochsWithSteps) {
  const Outcome outcome = read_document("{\"batch_loss\": [6, 5, 4, 3, 2, 1], \"val_loss\": [4, 2]}");
  EXPECT_THAT(outcome.sink.steps("val_loss"), ElementsAre(2, 5));
}

TEST(Json, KeepsAMetricWithAPointMoreThanTheOthers) {
  const Outcome outcome = read_document("{\"loss\": [4, 3, 2], \"accuracy\": [0.1, 0.2, 0.3, 0.4]}");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(0, 1, 2));
  EXPECT_THAT(outcome.sink.steps("accuracy"), ElementsAre(0, 1, 2, 3));
}

TEST(Json, ReadsColumnsAsPandasWritesThem) {
  const Outcome outcome = read_document("{\"loss\": {\"0\": 3, \"1\": 2}, \"acc\": {\"0\": 0.1, \"1\": 0.2}}");
  EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(3, 2));
}

TEST(Json, ReadsTensorBoardsDownload) {
  const Outcome outcome = read_document("[[1700000000.5, 10, 2.5], [1700000001.5, 20, 1.5], [1700000002, 30, 1]]");
  EXPECT_THAT(outcome.sink.steps("history"), ElementsAre(10, 20, 30));
  EXPECT_DOUBLE_EQ(outcome.sink.events[0].wall_time, 1700000000.5);
}

TEST(Json, TakesSingleNumbersForConfigurationAndOneRow) {
  const Outcome outcome = read_document("{\"loss\": 0.5, \"step\": 100, \"name\": \"x\"}");
  EXPECT_EQ(outcome.sink.configuration.at("loss"), "0.5");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(100));
}

TEST(Json, ReadsWhatIsThereOfADocumentThatIsCutOff) {
  const Outcome outcome = read_document("[{\"step\": 1, \"loss\": 3}, {\"step\": 2, \"loss\": 2}, {\"step\": 3, \"lo");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::truncated);
}

TEST(Json, ReadsWhatComesBeforeDamage) {
  const Outcome outcome =
      read_document("[{\"step\": 1, \"loss\": 3}, {\"step\": 2, \"loss\": 2}, {\"step\" 3}, {\"step\": 4}]");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2));
  EXPECT_EQ(outcome.damage.total(), 1U);
}

TEST(Json, ReadsDocumentsOneAfterAnother) {
  const Outcome outcome = read_document("[{\"step\": 1, \"loss\": 3}]\n[{\"step\": 2, \"loss\": 2}]\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2));
}

TEST(Json, IsNotFooledByBrackets) {
  EXPECT_EQ(sniff("json", "[2022-04-18 20:16:50] Seen 16415 samples\n", "a.log"), Sniff::no);
  EXPECT_EQ(sniff("json", "{'loss': 1.2}\n", "a.log"), Sniff::no);
  EXPECT_EQ(sniff("json", "[INFO] hello\n", "a.log"), Sniff::no);
  EXPECT_EQ(sniff("json", "[0] train_loss=2.57 test_loss=2.52\n[1] train_loss=2.51 test_loss=2.50\n", "a.log"),
            Sniff::no);
  EXPECT_EQ(sniff("json-lines", "{'loss': 1.2}\n{'loss': 1.1}\n", "a.log"), Sniff::no);
}

TEST(Json, DoesNotFollowNestingWithoutEnd) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  EXPECT_THAT(read_document(deep).sink.events, IsEmpty());
}

}  // namespace
}  // namespace osler
