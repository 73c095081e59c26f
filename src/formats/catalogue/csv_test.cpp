// Tables as people write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reading.h"

namespace osler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using ::testing::SizeIs;

const Format& csv() {
  return *find_format("csv");
}
Outcome read(std::string_view text) {
  return testing::read_whole_text(csv(), "metrics.csv", text);
}
Sniff sniff(std::string_view text, const char* path = "metrics.csv") {
  return csv().sniff({path, text, true});
}

TEST(Csv, IsSureOfATrainingTable) {
  EXPECT_EQ(sniff("epoch,loss,val_loss\n0,1.5,1.6\n1,1.2,1.3\n"), Sniff::certain);
  EXPECT_EQ(sniff("step;lr\n1;0,5\n2;0,25\n"), Sniff::certain);
}

TEST(Csv, ReadsDecimalCommasBetweenAnyDelimiters) {
  EXPECT_THAT(read("step\tloss\n1\t2,125\n2\t0,5\n3\t1,2345\n").sink.values("loss"), ElementsAre(2.125, 0.5, 1.2345));
  EXPECT_THAT(read("step,loss\n1,\"2,1234\"\n2,\"1,5\"\n").sink.values("loss"), ElementsAre(2.1234, 1.5));
  EXPECT_THAT(read("step;loss\n1;1.234,5\n2;0,5\n").sink.values("loss"), ElementsAre(1234.5, 0.5));
  EXPECT_THAT(read("step\ttokens\n1\t1,234\n2\t2,345\n").sink.values("tokens"), ElementsAre(1234, 2345))
      << "groups of thousands";
  EXPECT_EQ(
      sniff("Epoche 1 Verlust: 2,1234 Val-Verlust: 2,2234\nEpoche 2 Verlust: 1,1234 Val-Verlust: 1,2234\n", "lauf.log"),
      Sniff::no);
}

TEST(Csv, SaysThatTheLastRowsHaveNoValue) {
  std::string table = "step,loss,val_loss\n";
  for (int step = 0; step < 60; ++step) table += std::to_string(step) + (step < 30 ? ",0.5,0.6\n" : ",,\n");
  const Outcome outcome = read(table);
  ASSERT_EQ(outcome.damage.total(), 1U);
  EXPECT_THAT(outcome.damage.items().front().what, HasSubstr("the last 30 rows have a step and no value"));
  EXPECT_EQ(outcome.damage.items().front().line, 32U);
  std::string without_step = "loss,val_loss\n";
  for (int row = 0; row < 60; ++row) without_step += row < 10 ? "0.5,0.6\n" : "0.5,\n";
  EXPECT_EQ(read(without_step).damage.total(), 0U) << "a lone loss is a value";
}

TEST(Csv, ReadsTheNanOfWindows) {
  const Outcome outcome = read("step,loss,lr\n1,0.5,1\n2,0.4,1\n3,1.#QNAN,1\n4,-1.#IND,1\n");
  EXPECT_THAT(outcome.sink.values("loss"), SizeIs(4));
  EXPECT_EQ(outcome.damage.total(), 0U);
}

TEST(Csv, LeavesProgressBarsAndListsToTheTextReader) {
  EXPECT_EQ(sniff("  0%|   | 1/90 [00:01<01:29, 1.2it/s, loss=2.5]\n  1%|   | 2/90 [00:02<01:28, 1.2it/s, loss=2.4]\n",
                  "train.log"),
            Sniff::no);
  EXPECT_EQ(sniff(" [60/60 03:12, Epoch 0/1]\nStep\tTraining Loss\n1\t2.3\n2\t2.2\n", "train.log"), Sniff::no);
}

TEST(Csv, IsSureOfAHeaderThatIsLongerThanItsView) {
  std::string header = "step,train_loss";
  while (header.size() < kPeekBytes) header += ",layer." + std::to_string(header.size()) + ".weight";
  EXPECT_EQ(csv().sniff({"metrics.csv", std::string_view(header).substr(0, kPeekBytes), false}), Sniff::certain);
  const std::string prose(kPeekBytes, 'a');
  EXPECT_EQ(csv().sniff({"notes.txt", prose, false}), Sniff::no);
}

TEST(Csv, TakesNoObjectsOnOneLineForALongHeader) {
  std::string objects;
  for (int step = 0; objects.size() < kPeekBytes; ++step) {
    objects += R"({"step": )" + std::to_string(step) + R"(, "train_loss": 0.5})";
  }
  EXPECT_EQ(csv().sniff({"log.json", std::string_view(objects).substr(0, kPeekBytes), false}), Sniff::no);
}

TEST(Csv, DoubtsWhatCouldBeAnything) {
  EXPECT_EQ(sniff("1,2,3\n4,5,6\n"), Sniff::possible);
  EXPECT_EQ(sniff("sepal,petal\n1,2\n3,4\n"), Sniff::possible);
  EXPECT_EQ(sniff("loss\n0.5\n0.4\n"), Sniff::possible);
}

TEST(Csv, LeavesOtherTextAlone) {
  EXPECT_EQ(sniff("Epoch 1, step 10, loss 0.5\nEpoch 1, step 20, loss 0.4\n", "log.txt"), Sniff::no);
  EXPECT_EQ(sniff("{\"loss\": 1, \"step\": 2}\n", "log.json"), Sniff::no);
  EXPECT_EQ(sniff("The quick brown fox,\njumped over\n", "a.txt"), Sniff::no);
  EXPECT_EQ(sniff(std::string_view("a,b\0\n1,2\n", 9)), Sniff::no);
  EXPECT_EQ(sniff(""), Sniff::no);
}

TEST(Csv, ReadsAnyDelimiter) {
  for (const char* text :
       {"step,loss\n1,2.5\n2,1.5\n", "step;loss\n1;2.5\n2;1.5\n", "step\tloss\n1\t2.5\n2\t1.5\n",
        "step loss\n1 2.5\n2   1.5\n", "| step | loss |\n|------|------|\n| 1 | 2.5 |\n| 2 | 1.5 |\n",
        "   step,   loss\n   1,   2.5\n   2,   1.5\n", "step;loss\n1;2,5\n2;1,5\n"}) {
    const Outcome outcome = read(text);
    EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2)) << text;
    EXPECT_THAT(outcome.sink.values("loss"), ElementsAre(2.5, 1.5)) << text;
    EXPECT_TRUE(outcome.damage.empty()) << text;
  }
}

TEST(Csv, ReadsQuotedNamesAndNumbersWithThousands) {
  const Outcome outcome = read("\"step\",\"train, loss\"\n1,\"1,234.5\"\n2,\"1,000\"\n");
  EXPECT_THAT(outcome.sink.values("train, loss"), ElementsAre(1234.5, 1000));
}

TEST(Csv, LeavesEmptyCellsOut) {
  const Outcome outcome = read("epoch,step,train,val\n0,1,,0.5\n0,1,0.6,\n1,2,,0.4\n");
  EXPECT_THAT(outcome.sink.steps("train"), ElementsAre(1));
  EXPECT_THAT(outcome.sink.steps("val"), ElementsAre(1, 2));
}

TEST(Csv, KnowsNonFiniteNumbers) {
  const Outcome outcome = read("step,loss\n1,nan\n2,-Infinity\n3,None\n4,inf\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2, 4));
  EXPECT_TRUE(std::isnan(outcome.sink.values("loss")[0]));
  EXPECT_EQ(outcome.sink.values("loss")[1], -std::numeric_limits<double>::infinity());
}

TEST(Csv, ReportsTextInAColumnOfNumbersWithLineAndValue) {
  const Outcome outcome = read("step,loss\n1,2.5\n2,abc\n3,1.5\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 3));
  ASSERT_THAT(outcome.damage.items(), SizeIs(1));
  EXPECT_EQ(outcome.damage.items()[0].line, 3U);
  EXPECT_EQ(outcome.damage.items()[0].what, "'abc' in column 'loss' is not a number");
}

TEST(Csv, ReportsTextInTheFirstRowToo) {
  const Outcome outcome = read("step,loss\n1,oops\n2,2.5\n3,1.5\n");
  ASSERT_THAT(outcome.damage.items(), SizeIs(1));
  EXPECT_EQ(outcome.damage.items()[0].line, 2U);
}

TEST(Csv, LeavesColumnsOfTextAloneWithoutAWord) {
  const Outcome outcome = read("step,model,loss\n1,resnet,2.5\n2,resnet,1.5\n3,resnet,1.2\n");
  EXPECT_TRUE(outcome.damage.empty());
  EXPECT_THAT(outcome.sink.names, ElementsAre("loss"));
}

TEST(Csv, PutsThePhaseIntoTheNames) {
  const Outcome outcome = read("epoch,split,loss\n1,train,2.5\n1,val,2.6\n2,train,1.5\n2,val,1.6\n");
  EXPECT_THAT(outcome.sink.steps("train/loss"), ElementsAre(1, 2));
  EXPECT_THAT(outcome.sink.steps("val/loss"), ElementsAre(1, 2));
}

TEST(Csv, TakesARepeatedHeaderForARestart) {
  const Outcome outcome = read("loss,acc\n3,0.1\n2,0.2\nloss,acc\n3,0.1\n2,0.3\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(0, 1, 0, 1));
  EXPECT_TRUE(outcome.damage.empty());
}

TEST(Csv, FollowsAHeaderThatGainsAColumn) {
  const Outcome outcome = read("epoch,loss\n0,3\n1,2\nepoch,loss,lr\n2,1.5,0.1\n3,1.2,0.1\n");
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(outcome.sink.steps("lr"), ElementsAre(2, 3));
}

TEST(Csv, DoesWithoutAHeader) {
  const Outcome counted = read("10,2.5\n20,1.5\n30,1.2\n");
  EXPECT_THAT(counted.sink.steps("column 2"), ElementsAre(10, 20, 30));
  const Outcome plain = read("2.5,0.1\n1.5,0.2\n1.2,0.3\n");
  EXPECT_THAT(plain.sink.names, ElementsAre("column 1", "column 2"));
}

TEST(Csv, TakesAJsonCommentForConfiguration) {
  const Outcome outcome =
      read("#{\"t_start\": 1700000000.5, \"env\": {\"id\": \"CartPole\"}}\nr,l,t\n1,2,3\n4,5,6\n7,8,9\n");
  EXPECT_THAT(outcome.sink.configuration.at("env/id"), "CartPole");
  EXPECT_THAT(outcome.sink.values("r"), ElementsAre(1, 4, 7));
}

TEST(Csv, ReadsAHeaderBehindAHash) {
  EXPECT_THAT(read("# epoch,loss\n0,3\n1,2\n").sink.names, ElementsAre("epoch", "loss"));
}

TEST(Csv, ReadsDatesAsWallTime) {
  const Outcome outcome = read("date,step,loss\n2024-01-02 03:04:05,1,2.5\n2024-01-02 03:04:06.5,2,2\n");
  EXPECT_DOUBLE_EQ(outcome.sink.events[0].wall_time, 1704164645.0);
  EXPECT_DOUBLE_EQ(outcome.sink.events[1].wall_time, 1704164646.5);
}

TEST(Csv, KeepsTwinColumnsApartAndDropsAPandasIndex) {
  EXPECT_THAT(read(",loss,loss\n0,1,2\n1,3,4\n").sink.names, ElementsAre("loss", "loss.1"));
}

TEST(Csv, ReportsRowsThatAreTooWideAndLinesThatAreNone) {
  const Outcome outcome = read("step,loss\n1,2,3\n2,1\nTraining was interrupted\n3,0.5\n");
  ASSERT_THAT(outcome.damage.items(), SizeIs(2));
  EXPECT_THAT(outcome.damage.items()[0].what, HasSubstr("3 fields in a table of 2 columns"));
  EXPECT_THAT(outcome.damage.items()[1].what, HasSubstr("Training was interrupted"));
  EXPECT_EQ(outcome.damage.items()[1].line, 4U);
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(1, 2, 3));
}

TEST(Csv, GivesTheSameWhateverThePieces) {
  std::string text = "\xEF\xBB\xBF# {\"a\": 1}\r\nepoch,split,loss\r\n";
  for (int i = 0; i < 100; ++i)
    text += std::to_string(i) + (i % 2 ? ",train," : ",val,") + std::to_string(i * 0.5) + "\r\n";
  const Outcome whole = read(text);
  for (const std::size_t size : {1, 2, 7, 64}) {
    const Outcome pieces = testing::read_in_pieces(csv(), "metrics.csv", text, [&] { return size; });
    EXPECT_EQ(pieces.sink.names, whole.sink.names);
    EXPECT_EQ(pieces.sink.values("val/loss"), whole.sink.values("val/loss"));
    EXPECT_EQ(pieces.sink.steps("val/loss"), whole.sink.steps("val/loss"));
  }
}

}  // namespace
}  // namespace osler
