// Lines that hold several records.
#include "formats/text/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace osler::text {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> records_of(std::string_view line) {
  std::vector<std::string> records;
  bool several = false;
  while (!line.empty()) records.emplace_back(take_record(line, several));
  return records;
}

TEST(Records, AreToldApartWhereTheirCounterGoesOn) {
  EXPECT_THAT(records_of("Round 0, TestAcc=0.01, Round 1, TestAcc=0.02, Round 2, TestAcc=0.03, "),
              ElementsAre("Round 0, TestAcc=0.01, ", "Round 1, TestAcc=0.02, ", "Round 2, TestAcc=0.03, "));
  EXPECT_THAT(records_of("epoch: 1 loss 2.0 epoch: 2 loss 1.5 epoch: 3 loss 1.2").size(), 3U);
}

TEST(Records, AreWholeLinesWhereTheCounterOnlyComesUpAgain) {
  for (const char* line : {"epoch 3: best so far, epoch 4 follows", "Epoch 5/100 loss 0.3 val 0.4",
                           "Step 10 loss 1.0 step_time 0.5 step 10", "loss 0.5 epoch 1 epoch 2 epoch 3",
                           "Epoch 3 (best epoch 1, worst epoch 2, last epoch 3) loss 0.5"}) {
    EXPECT_THAT(records_of(line), ElementsAre(line));
  }
}

}  // namespace
}  // namespace osler::text
