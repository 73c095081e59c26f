// Records of a .wandb file that no sample has.
#include "formats/wandb/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "recording_sink.h"

namespace osler {
namespace {

using protozero::pbf_writer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string item(const std::string& key, const std::string& json) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_string(1, key);
  writer.add_string(16, json);
  return bytes;
}

/// A record that holds one message, as field `number`.
std::string record(protozero::pbf_tag_type number, const std::string& content) {
  std::string bytes;
  pbf_writer(bytes).add_message(number, content);
  return bytes;
}

std::string history(int step, double loss) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_message(1, item("_step", std::to_string(step)));
  writer.add_message(1, item("loss", std::to_string(loss)));
  return record(2, bytes);
}

std::string statistics(std::int64_t seconds, const std::string& use) {
  std::string time;
  pbf_writer(time).add_int64(1, seconds);
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_message(2, time);
  writer.add_message(3, item("gpu.0.gpu", use));
  writer.add_message(3, item("network", R"({"sent": 1})"));
  return record(7, bytes);
}

testing::RecordingSink read(const std::vector<std::string>& records, DamageReport& damage) {
  testing::RecordingSink sink;
  WandbRecords reader;
  for (const std::string& one : records) reader.record(one, 0, sink, damage);
  reader.finish(sink);
  return sink;
}

TEST(WandbRecords, TellWhatTheMachineDidAtTheStepThatWasLoggedLast) {
  DamageReport damage;
  const auto found = read({history(10, 2.0), statistics(1'700'000'000, "61.5"), statistics(1'700'000'010, "62.5"),
                           history(20, 1.0), statistics(1'700'000'020, "63.5")},
                          damage);
  EXPECT_TRUE(damage.empty());
  EXPECT_THAT(found.steps("system/gpu.0.gpu"), ElementsAre(10, 20)) << "of several at one step the first counts";
  EXPECT_THAT(found.steps("system/network"), IsEmpty()) << "what is no number is left out";
}

TEST(WandbRecords, TellTheFiguresOfAHistogramOnceWhereTheyAreNumbersToo) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_message(1, item("_step", "7"));
  writer.add_message(1, item("w#mean", "0.25"));
  writer.add_message(1, item("w", R"({"_type": "histogram", "values": [1, 3], "bins": [-1, 0, 1]})"));
  DamageReport damage;
  const auto found = read({record(2, bytes)}, damage);
  EXPECT_THAT(found.values("w#mean"), ElementsAre(0.25));
  EXPECT_THAT(found.steps("w#std"), ElementsAre(7));
}

TEST(WandbRecords, TakeNoWrongTypeForAField) {
  std::string wrong;
  pbf_writer writer(wrong);
  writer.add_int64(2, 5);  // a time that is no message
  writer.add_int64(3, 5);  // a value that is none
  std::string exit;
  pbf_writer(exit).add_string(1, "not a code");
  DamageReport damage;
  const auto found = read({record(7, wrong), record(18, exit)}, damage);
  EXPECT_THAT(found.events, IsEmpty());
  ASSERT_EQ(found.marks.size(), 1U);
  EXPECT_EQ(found.marks[0].kind, Mark::Kind::finished);
}

}  // namespace
}  // namespace osler
