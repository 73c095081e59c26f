// TensorBoard event files: every encoding, and every kind of damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "event_file_writer.h"
#include "reading.h"

namespace osler {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using testing::EventFileWriter;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using ::testing::SizeIs;

const Format& tensorboard() {
  return *find_format("tensorboard");
}
Outcome read(std::string_view bytes, const char* path = "logs/run1/events.out.tfevents.1.host") {
  return testing::read_whole_text(tensorboard(), path, bytes);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Three scalars of one tag; `record_start[i]` is where the record of the i-th lies.
struct ThreeScalars {
  ThreeScalars() {
    for (int i = 0; i < 3; ++i) {
      record_start[i] = writer.bytes().size();
      writer.scalar("loss", i + 1, static_cast<float>(3 - i));
    }
    record_start[3] = writer.bytes().size();
  }
  EventFileWriter writer;
  std::size_t record_start[4] = {};
};

TEST(TensorBoard, IsSniffedByItsFirstRecord) {
  const ThreeScalars file;
  EXPECT_EQ(tensorboard().sniff({"anything", file.writer.bytes(), true}), Sniff::certain);
  EXPECT_EQ(tensorboard().sniff({"anything", "step,loss\n1,2\n3,4\n", true}), Sniff::no);
  EXPECT_EQ(tensorboard().sniff({"events.out.tfevents.1", std::string(100, '\x01'), true}), Sniff::possible);
  EXPECT_EQ(tensorboard().sniff({"zeros", std::string(100, '\0'), true}), Sniff::no);
}

TEST(TensorBoard, ReadsSimpleValues) {
  const Outcome outcome = read(ThreeScalars().writer.bytes());
  EXPECT_THAT(outcome.sink.names, ElementsAre("loss"));
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2, 3));
  EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(3, 2, 1));
  EXPECT_DOUBLE_EQ(outcome.sink.events[0].wall_time, EventFileWriter::kStart + 1);
  EXPECT_FALSE(outcome.error);
}

TEST(TensorBoard, ReadsSeveralValuesOfOneEventAndStepZero) {
  EventFileWriter writer;
  writer.scalars(0, {{"loss", 2.5F}, {"accuracy", 0.1F}});
  writer.scalars(1, {{"loss", 1.5F}, {"accuracy", 0.2F}});
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.steps("accuracy"), ElementsAre(0, 1));
  EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(2.5, 1.5));
}

TEST(TensorBoard, ReadsScalarTensorsOfEveryType) {
  EventFileWriter writer;
  int step = 0;
  writer.tensor("x", ++step, "scalars", EventFileWriter::float_tensor(1.5F));
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(1, bytes_of<float>({2.5F})));
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(2, bytes_of<double>({3.25})));
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(3, bytes_of<std::int32_t>({-4})));
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(9, bytes_of<std::int64_t>({5})));
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(19, bytes_of<std::uint16_t>({0x4600})));  // half 6
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(14, bytes_of<std::uint16_t>({0x40E0})));  // bfloat16 7
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(19, bytes_of<std::uint16_t>({0xFC00})));  // half -inf
  writer.tensor("x", ++step, "", EventFileWriter::tensor_of(19, bytes_of<std::uint16_t>({0x0001})));  // smallest half
  EXPECT_THAT(read(writer.bytes()).sink.values("x"),
              ElementsAre(1.5, 2.5, 3.25, -4, 5, 6, 7, -std::numeric_limits<double>::infinity(), std::ldexp(1, -24)));
}

TEST(TensorBoard, ReadsNonFiniteScalars) {
  EventFileWriter writer;
  writer.scalar("loss", 1, std::numeric_limits<float>::quiet_NaN());
  writer.scalar("loss", 2, -std::numeric_limits<float>::infinity());
  const Outcome outcome = read(writer.bytes());
  EXPECT_TRUE(std::isnan(outcome.sink.values("loss")[0]));
  EXPECT_EQ(outcome.sink.values("loss")[1], -std::numeric_limits<double>::infinity());
}

TEST(TensorBoard, LeavesImagesAndEmbeddingsOut) {
  EventFileWriter writer;
  writer.tensor("image", 1, "images", EventFileWriter::text_tensor("png"));
  writer.tensor("embedding", 1, "", EventFileWriter::tensor_of(1, bytes_of(std::vector<float>(10000, 1.0F)), {10000}));
  writer.tensor("pair", 1, "", EventFileWriter::tensor_of(1, bytes_of<float>({1, 2}), {2}));
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.events, IsEmpty());
  EXPECT_TRUE(outcome.damage.empty());
}

TEST(TensorBoard, TurnsHistogramsIntoSeries) {
  // The values -2, 0, 0, 1, 3.
  EventFileWriter writer;
  writer.histogram("weight", 7, {-2, 3, 5, 2, 14, {-1e-12, 1e-12, 5}, {1, 2, 2}});
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.names, ElementsAre("weight#mean", "weight#std", "weight#min", "weight#max", "weight#norm",
                                              "weight#zero-share", "weight"));
  EXPECT_THAT(outcome.sink.values("weight#mean"), ElementsAre(DoubleEq(0.4)));
  EXPECT_THAT(outcome.sink.values("weight#std"), ElementsAre(DoubleEq(std::sqrt(14.0 / 5 - 0.16))));
  EXPECT_THAT(outcome.sink.values("weight#norm"), ElementsAre(DoubleEq(std::sqrt(14.0))));
  EXPECT_THAT(outcome.sink.values("weight#zero-share"), ElementsAre(DoubleEq(0.4)));
  EXPECT_THAT(outcome.sink.steps("weight#max"), ElementsAre(7));
}

TEST(TensorBoard, PassesHistogramsOnAsTheyAre) {
  EventFileWriter writer;
  writer.histogram("weight", 7, {-2, 3, 5, 2, 14, {-1e-12, 1e-12, 5}, {1, 2, 2}});
  writer.tensor("w", 3, "histograms", EventFileWriter::tensor_of(2, bytes_of<double>({1, 1, 2, 2, 4, 4}), {2, 3}));
  const Outcome outcome = read(writer.bytes());
  ASSERT_THAT(outcome.sink.histograms, SizeIs(2));
  const Histogram& one = outcome.sink.histograms[0];
  EXPECT_EQ(outcome.sink.names[one.series], "weight");
  EXPECT_EQ(one,
            (Histogram{one.series, 7, EventFileWriter::kStart + 7, -2, 3, 5, 2, 14, {-1e-12, 1e-12, 5}, {1, 2, 2}}));
  const Histogram& two = outcome.sink.histograms[1];
  EXPECT_EQ(outcome.sink.names[two.series], "w");
  EXPECT_THAT(two.limits, ElementsAre(1, 4));
  EXPECT_THAT(two.counts, ElementsAre(2, 4));
  EXPECT_EQ(two.count, 6);
  EXPECT_DOUBLE_EQ(two.sum, 14);
}

TEST(TensorBoard, DoesNotGuessTheZeroShareFromAWideBucket) {
  EventFileWriter writer;
  writer.histogram("weight", 7, {-2, 3, 5, 2, 14, {-1, 1, 5}, {1, 2, 2}});
  EXPECT_THAT(read(writer.bytes()).sink.values("weight#zero-share"), IsEmpty());
}

TEST(TensorBoard, TurnsTensorFlow2HistogramsIntoSeries) {
  // Two values at exactly 1, four spread evenly over [2, 4].
  EventFileWriter writer;
  writer.tensor("w", 3, "histograms", EventFileWriter::tensor_of(2, bytes_of<double>({1, 1, 2, 2, 4, 4}), {2, 3}));
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.values("w#mean"), ElementsAre(DoubleEq(14.0 / 6)));
  EXPECT_THAT(outcome.sink.values("w#norm"), ElementsAre(DoubleEq(std::sqrt(2 + 4 * (9 + 4.0 / 12)))));
  EXPECT_THAT(outcome.sink.values("w#zero-share"), ElementsAre(0));
}

TEST(TensorBoard, TakesTextAndHyperparametersForConfiguration) {
  EventFileWriter writer;
  writer.tensor("notes", 0, "text", EventFileWriter::text_tensor("first try"));
  writer.hparams("lr", 0.25, "optimizer", "adam");
  const Outcome outcome = read(writer.bytes());
  EXPECT_EQ(outcome.sink.configuration.at("notes"), "first try");
  EXPECT_EQ(outcome.sink.configuration.at("lr"), "0.25");
  EXPECT_EQ(outcome.sink.configuration.at("optimizer"), "adam");
}

TEST(TensorBoard, NotesWhereASessionStarts) {
  EventFileWriter writer;
  writer.session_start(100);
  const Outcome outcome = read(writer.bytes());
  ASSERT_THAT(outcome.sink.marks, SizeIs(1));
  EXPECT_EQ(outcome.sink.marks[0].step, 100);
  EXPECT_EQ(outcome.sink.marks[0].kind, Mark::Kind::restart);
  const Outcome evaluation = read(writer.bytes(), "logs/run1/eval/events.out.tfevents.1.host");
  EXPECT_EQ(evaluation.sink.marks[0].kind, Mark::Kind::note) << "it says nothing about the training beside it";
}

TEST(TensorBoard, PutsTheFolderBeforeTheTagsOfKeras) {
  const Outcome outcome = read(ThreeScalars().writer.bytes(), "logs/run1/validation/events.out.tfevents.1.host");
  EXPECT_THAT(outcome.sink.names, ElementsAre("validation/loss"));
  EXPECT_EQ(tensorboard().run_of("logs/run1/validation/events.out.tfevents.1"), "logs/run1");
  EXPECT_EQ(tensorboard().run_of("logs/run1/events.out.tfevents.1"), "logs/run1");
}

TEST(TensorBoard, SkipsARecordWhoseDataIsDamaged) {
  ThreeScalars file;
  std::string bytes = file.writer.bytes();
  bytes[file.record_start[1] + 20] ^= 1;
  const Outcome outcome = read(bytes);
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 3));
  ASSERT_THAT(outcome.damage.items(), SizeIs(1));
  EXPECT_EQ(outcome.damage.items()[0].offset, file.record_start[1]);
  EXPECT_EQ(outcome.damage.lost_bytes(), file.record_start[2] - file.record_start[1]);
}

TEST(TensorBoard, FindsTheNextRecordBehindADamagedLength) {
  ThreeScalars file;
  std::string bytes = file.writer.bytes();
  bytes[file.record_start[1]] ^= 1;
  const Outcome outcome = read(bytes);
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 3));
  ASSERT_THAT(outcome.damage.items(), SizeIs(1));
  EXPECT_EQ(outcome.damage.items()[0].offset, file.record_start[1]);
  EXPECT_EQ(outcome.damage.lost_bytes(), file.record_start[2] - file.record_start[1]);
}

TEST(TensorBoard, SaysHowMuchIsLostWhenNoGoodRecordFollows) {
  ThreeScalars file;
  std::string bytes = file.writer.bytes();
  bytes[file.record_start[2]] ^= 1;
  const Outcome outcome = read(bytes);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.damage.lost_bytes(), file.record_start[3] - file.record_start[2]);
}

TEST(TensorBoard, CallsACutFileTruncatedAndKeepsWhatCameBefore) {
  const ThreeScalars file;
  const Outcome outcome = read(std::string_view(file.writer.bytes()).substr(0, file.record_start[3] - 1));
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::truncated);
  EXPECT_TRUE(outcome.damage.empty());
}

TEST(TensorBoard, PassesOverAHugeRecordWithoutKeepingIt) {
  EventFileWriter writer;
  writer.record(std::string((std::size_t{64} << 20) + 1, 'g'));
  writer.scalar("loss", 1, 2.5F);
  const std::string bytes = writer.bytes();
  const Outcome outcome = testing::read_in_pieces(tensorboard(), "events", bytes, [] { return std::size_t{1} << 20; });
  EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(2.5));
  EXPECT_TRUE(outcome.damage.empty());
}

TEST(TensorBoard, ReportsARecordThatIsNoEvent) {
  EventFileWriter writer;
  writer.record("\x2A\x7F");
  writer.scalar("loss", 1, 2.5F);
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(2.5));
  EXPECT_EQ(outcome.damage.total(), 1U);
}

TEST(TensorBoard, KeepsAHundredThousandTagsApart) {
  EventFileWriter writer;
  for (int tag = 0; tag < 100'000; ++tag) writer.scalar("tag" + std::to_string(tag), 1, static_cast<float>(tag));
  const Outcome outcome = read(writer.bytes());
  EXPECT_THAT(outcome.sink.names, SizeIs(100'000));
  EXPECT_EQ(outcome.sink.events.back().value, 99'999);
}

}  // namespace
}  // namespace osler
