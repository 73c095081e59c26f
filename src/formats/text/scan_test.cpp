// What is a number in a line, and when two lines have the same shape.
#include "formats/text/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace osler::text {
namespace {

/// The numbers of a line as they are written, joined by '|'.
std::string numbers(std::string_view line) {
  Scan scan;
  scan_line(line, scan);
  std::string found;
  for (const Number& number : scan.numbers) {
    if (!found.empty()) found += '|';
    found += line.substr(number.begin, number.unit_end - number.begin);
  }
  return found;
}

double only_value(std::string_view line) {
  Scan scan;
  scan_line(line, scan);
  EXPECT_EQ(scan.numbers.size(), 1U) << line;
  return scan.numbers.empty() ? 0 : value_of(line, scan.numbers.front());
}

std::uint64_t shape(std::string_view line) {
  Scan scan;
  scan_line(line, scan);
  return scan.shape;
}

TEST(Scan, TakesTheHalfOfTheDayForAPartOfTheTime) {
  EXPECT_EQ(numbers("Epoch 3 @ 10:27 PM : 0.98"), "3|0.98");
  EXPECT_EQ(shape("Epoch 3 @ 10:27 PM : 0.98"), shape("Epoch 4 @ 01:02 AM : 0.97"));
  EXPECT_NE(shape("at 10:27 amount 3"), shape("at 10:27 pmount 3"));
}

TEST(Scan, FindsNumbersInAllTheirSpellings) {
  EXPECT_EQ(numbers("loss: 0.3 lr=1e-4 b -2 c +3.5 d .5 e 5.e-06"), "0.3|1e-4|-2|+3.5|.5|5.e-06");
  EXPECT_EQ(only_value("tokens 1,234,567.5"), 1234567.5);
  EXPECT_EQ(only_value("lr 5.e-06"), 5e-6);
  EXPECT_EQ(only_value("lr .5e-3"), 0.5e-3);
}

TEST(Scan, UnderstandsDecimalCommas) {
  EXPECT_EQ(numbers("Epoche 3 Verlust: 2,1234, Val-Verlust: 0,98"), "3|2,1234|0,98");
  EXPECT_EQ(only_value("Verlust: 2,1234"), 2.1234);
  EXPECT_EQ(only_value("Verlust: -0,693"), -0.693);
  EXPECT_EQ(only_value("lr 1,25e-3"), 1.25e-3);
  EXPECT_EQ(only_value("tokens 1,234"), 1234) << "a group of thousands";
  Scan scan;
  const std::string_view line = "Verlust 2,345 Genauigkeit 0,881";
  scan_line(line, scan);
  EXPECT_EQ(value_of(line, scan.numbers.front()), 2.345) << "as the other number of the line";
  EXPECT_EQ(numbers("size (3,64) shape 3,64,64 ids 0,1 row"), "3|64|3|64|64|0|1");
  EXPECT_EQ(numbers("5,0.31"), "5|0.31");
}

TEST(Scan, FindsWhatYamlWritesForNoNumber) {
  EXPECT_TRUE(std::isnan(only_value("episode_reward_mean: .nan")));
  EXPECT_EQ(only_value("kl: -.inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers("see the file x.nan, or loss .info"), "");
}

TEST(Scan, LeavesOutWhichOfSeveralAPairIsAbout) {
  EXPECT_EQ(numbers("Avg episode reward: [(0, '4.800')]"), "4.800");
  EXPECT_EQ(numbers("betas (0.9, 0.95) size (3, 4)"), "0.9|0.95|3|4");
}

TEST(Scan, TakesUnitsAlongAndScalesPowersOfTen) {
  EXPECT_EQ(numbers("time 285ms rate 1.85it/s acc 97% mem 4.5GB n 3k"), "285ms|1.85it/s|97%|4.5GB|3k");
  EXPECT_EQ(only_value("step 10k"), 10000);
  EXPECT_EQ(only_value("mem 11811M"), 11811e6);
  EXPECT_EQ(only_value("time 285ms"), 285);  // units of time stay as they are printed
}

TEST(Scan, LeavesOutWhatOnlyLooksLikeANumber) {
  EXPECT_EQ(numbers("top5 G_L1 cuda11.8 0x7fd98c 1.15.4 10.228.58.174 2d mAP50-95 f1-score v2"), "");
  EXPECT_EQ(numbers("2023-01-01 12:00:00,123 [11/16 02:58:32] 1:02:03 0-00:17:53 2023/01/01"), "11|16");
  EXPECT_EQ(numbers("BLEU = 14.9/1.0/0.0/0.0"), "");
}

TEST(Scan, LeavesOutWhereInAProgramALineWasWritten) {
  EXPECT_EQ(numbers("2024-01-01 00:00:00.123 | INFO     | __main__:train:88 - step 3 - loss 0.5"), "3|0.5");
  EXPECT_EQ(numbers("| INFO | src.engine:train_epoch:120 - loss 0.5"), "0.5");
  EXPECT_EQ(numbers("[app:<module>:12] loss 0.5"), "0.5");
  EXPECT_EQ(numbers("train:acc:93 - val:acc:91 - loss:2"), "93|91|2");
  EXPECT_NE(shape("a:b:88 - loss 0.5"), shape("a:b:89 - loss 0.5"));
  EXPECT_EQ(numbers("a:<b:12] loss 0.5"), "12|0.5");
}

TEST(Scan, LeavesNumbersInNamesToTheNames) {
  EXPECT_EQ(numbers("top 1 acc: 0.5, top 5 acc: 0.9"), "0.5|0.9");
  EXPECT_EQ(numbers("Region 82 Avg IOU: 0.4"), "0.4");
  EXPECT_EQ(numbers("Avg Reward (last 100): 12.5 | return (past 20 episodes)=3"), "12.5|3");
  EXPECT_NE(shape("top 1 acc: 0.5"), shape("top 5 acc: 0.5"));
  EXPECT_EQ(numbers("Epoch 3 Batch 100 Loss 2.3"), "3|100|2.3");
}

TEST(Scan, KnowsNonFiniteValuesFromWords) {
  EXPECT_TRUE(std::isnan(only_value("loss: nan")));
  EXPECT_TRUE(std::isnan(only_value("loss NaN")));
  EXPECT_TRUE(std::isnan(only_value("Avg IOU: -nan,")));
  EXPECT_TRUE(std::isnan(only_value("loss=-1.#IND")));
  EXPECT_EQ(only_value("loss=inf"), INFINITY);
  EXPECT_EQ(only_value("loss: -Infinity"), -INFINITY);
  EXPECT_EQ(only_value("step_avg:nanms") == only_value("step_avg:nanms"), false);
  EXPECT_EQ(numbers("xin nan chao, info nanny, the nan in the text"), "");
  EXPECT_EQ(numbers("number of nan iterations: 0"), "0");
}

TEST(Scan, PartsListsButKeepsThousandsTogether) {
  EXPECT_EQ(numbers("lr=[0.1, 0.01] split 2,4,4 [100,200]"), "0.1|0.01|2|4|4|100|200");
  EXPECT_EQ(numbers("tokens = 393,216 | vocab"), "393,216");
}

TEST(Scan, GivesLinesThatDifferInTheirNumbersTheSameShape) {
  EXPECT_EQ(shape("Epoch:  1, loss: 8.836"), shape("Epoch: 18, loss: nan"));
  EXPECT_EQ(shape("2023-01-01 12:00:00,123 step 1 loss 0.5"), shape("2024-11-30 01:02:03,004 step 99 loss 1e-3"));
  EXPECT_EQ(shape("32/99 [==>.......] - loss: 0.5"), shape("64/99 [=====>....] - loss: 0.4"));
  EXPECT_NE(shape("loss: 0.5"), shape("lass: 0.5"));
  EXPECT_NE(shape("train loss 0.5"), shape("val loss 0.5"));
}

TEST(Scan, SurvivesLinesOfNothingButDigitsOrPunctuation) {
  EXPECT_EQ(numbers(std::string(100'000, '7')).size(), 100'000U);
  EXPECT_EQ(numbers(std::string(100'000, '[')), "");
  EXPECT_EQ(numbers(std::string(100'000, '-')), "");
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += "1 ";
  Scan scan;
  scan_line(list, scan);
  EXPECT_LE(scan.numbers.size(), 1000U);
}

}  // namespace
}  // namespace osler::text
