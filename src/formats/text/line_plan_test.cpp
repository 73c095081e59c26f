// What the numbers of a line are called, and which of them count.
#include "formats/text/line_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace osler::text {
namespace {

/// "step=K total=K epoch=K name name ...": the plan of a line in words.
std::string plan(std::string_view line) {
  Scan scan;
  scan_line(line, scan);
  const LinePlan made = plan_line(line, scan);
  std::string words;
  const auto counter = [&](std::string_view name, std::int16_t index) {
    if (index < 0) return;
    const Number& number = scan.numbers[static_cast<std::size_t>(index)];
    words.append(name).append("=").append(line.substr(number.begin, number.end - number.begin)).append(" ");
  };
  counter("epoch", made.epoch);
  counter("step", made.step);
  counter("total", made.total);
  for (const Slot& slot : made.slots) {
    if (slot.use == Slot::Use::skip) continue;
    words += '<';
    if (slot.split != Split::none) words.append(to_string(slot.split)).append("/");
    words += slot.name + ">";
  }
  return words;
}

TEST(LinePlan, FindsTheNameBeforeTheNumber) {
  EXPECT_EQ(plan("step 1 loss: 0.3 acc=0.9 lr 1e-4 'ppl': 5 \"nll\": \"3.5\""), "step=1 <loss><acc><lr><ppl><nll>");
  EXPECT_EQ(plan("iter 5 [loss] 0.5"), "step=5 <loss>");
  EXPECT_EQ(plan("epoch 2 top 1 acc: 0.3 top 5 acc: 0.7"), "epoch=2 <top 1 acc><top 5 acc>");
  EXPECT_EQ(plan("step 3 elapsed time per iteration (ms): 123.4 | lm loss: 1.0E+01"),
            "step=3 <elapsed time per iteration><lm loss>");
  EXPECT_EQ(plan("Epoch 1 - |param|=6.00e+02 |g_param|=3.68e+05 loss=4.88"), "epoch=1 <|param|><|g_param|><loss>");
}

TEST(LinePlan, TakesNoLineOfAProgramForALoss) {
  EXPECT_EQ(plan("2024-01-01 00:00:00.123 | INFO | __main__:train:88 - step 3 - loss 0.5"), "step=3 <train/loss>");
  EXPECT_EQ(plan("[NeMo I 2024-01-01 00:00:00 train:88] step 3 loss 0.5"), "step=3 <train/loss>");
  EXPECT_EQ(plan("step 250: train 3.1, val 3.2"), "step=250 <train loss><val loss>");
}

TEST(LinePlan, FindsTheNamesBehindTheNumbers) {
  EXPECT_EQ(plan("Epoch 3 @ 10:27 PM : 0.9816 C.E. Loss, 94.28% Accuracy"), "epoch=3 <CE Loss><Accuracy>");
  EXPECT_EQ(plan("Epoch 3: 0.98 train loss | 0.94 val loss"), "epoch=3 <train loss><val loss>");
  EXPECT_EQ(plan("step 20 0.98 loss 0.94 acc"), "step=20 <loss><acc>");
  EXPECT_EQ(plan("step 20: 12s, 0.98 loss, lr 0.1"), "step=20 <loss><lr>");
  EXPECT_EQ(plan("step 20 100 loss 0.94"), "step=20 <loss>") << "the name stands in front";
  EXPECT_EQ(plan("Epoch 3 loss 0.5 acc 0.9"), "epoch=3 <loss><acc>");
  EXPECT_EQ(plan("we reach 76.1% accuracy"), "") << "a sentence, not a line that counts";
}

TEST(LinePlan, FindsANameBetweenCommas) {
  EXPECT_EQ(plan("epoch 1, phase train, step 20, loss_train, 0.771"), "epoch=1 step=20 <loss_train>");
  EXPECT_EQ(plan("step 20; loss; 0.771; acc; 0.5"), "step=20 <loss><acc>");
  EXPECT_EQ(plan("step 20, node a, 0.771"), "step=20 ");
}

TEST(LinePlan, TakesADurationForNoLossAndForNoSplit) {
  EXPECT_EQ(plan("Epoch 10 loss 12.3880 | train 2.1s | Acc 9.32% | infer 4.4s"),
            "epoch=10 <loss><train time><Acc><infer>");
  EXPECT_EQ(plan("Epoch 10 train 2.1 val 2.2"), "epoch=10 <train loss><val loss>");
}

TEST(LinePlan, CountsEpisodesAndNotTheStepsThatARemarkTells) {
  EXPECT_EQ(plan("[DQN] Episode 7 - Truncated at step 1000. Reward: 715.00"), "step=7 <Reward>");
  EXPECT_EQ(plan("Score at iteration 100 is 0.5"), "step=100 <Score>");
  EXPECT_EQ(plan("Episode 7 Step 1000 Reward: 715.00"), "step=1000 <Reward>");
}

TEST(LinePlan, CountsWithTheNumberInsideAName) {
  EXPECT_EQ(plan("Average Reward after 4 episodes: 168.75"), "step=4 <Average Reward>");
  EXPECT_EQ(plan("Average loss after 2 epochs = 1.9"), "epoch=2 <Average loss>");
  EXPECT_EQ(plan("Score after 20 games: 19.8"), "step=20 <Score>");
  EXPECT_EQ(plan("Average reward over last 100 episodes: 14.5"), "<Average reward over last 100 episodes>");
}

TEST(LinePlan, TakesTheLengthOfAnEpisodeForNoStep) {
  EXPECT_EQ(plan("Episode 12 finished after 200 steps, reward: 14"), "step=12 <reward>");
  EXPECT_EQ(plan("Episode 12 finished after 200 timesteps with reward 14.5"), "step=12 <reward>");
  EXPECT_EQ(plan("Ep 2 | Steps 24 | Reward 16.6"), "epoch=2 <Reward>");
  EXPECT_EQ(plan("Steps: 24, Episode: 2, Reward: 16.6"), "step=2 <Reward>");
  EXPECT_EQ(plan("Steps: 24000, Episodes: 200, Reward: 16.6"), "step=24000 <Reward>");
}

TEST(LinePlan, ReadsARateWithBlanksAroundItsSlash) {
  EXPECT_EQ(plan("Step: 10 / 500, Tokens / Sec: 1252, Loss: 8.1"), "step=10 total=500 <Tokens / Sec><Loss>");
  EXPECT_EQ(plan("step 10 loss: 0.5 / time / step: 0.2"), "step=10 <loss><time / step>");
}

TEST(LinePlan, TakesTheNumberOfAFoldForNoSeries) {
  EXPECT_EQ(plan("Fold 3 Epoch 2 train loss 0.5"), "epoch=2 <train loss>");
  EXPECT_EQ(plan("Training layer 1/2: epoch 1/10, loss 1.9"), "epoch=1 <train/loss>");
}

TEST(LinePlan, TakesDataMadeReadyForNoTraining) {
  EXPECT_EQ(plan("Processing 100/2000 files, speed: 107.5 files/s"), "");
  EXPECT_EQ(plan("2024-03-01 10:00:00 INFO Tokenizing batch 100/2000 (avg length 102.9)"), "");
  EXPECT_EQ(plan("Processing epoch 3/10"), "epoch=3 ");
  EXPECT_EQ(plan("Processing batch 3/10 loss 0.5"), "step=3 total=10 <loss>");
}

TEST(LinePlan, TakesAShareOfRightAnswersForAFigureOfMerit) {
  EXPECT_EQ(plan("  Correct = 14.15%"), "<Correct>");
  EXPECT_EQ(plan("the only correct 3 answers"), "");
}

TEST(LinePlan, FindsTheRateBehindTheNumber) {
  EXPECT_EQ(plan("iter 10: loss 8.7390 11136 ms/iter"), "step=10 <loss><ms/iter>");
  EXPECT_EQ(plan("Up. 500 : Cost 6.71 : 724.78 words/s"), "step=500 <Cost><words/s>");
}

TEST(LinePlan, TellsRunningMeansListsAndRatiosApart) {
  EXPECT_EQ(plan("Epoch: [0][ 10/782]\tLoss 2.9 (2.8)\tAcc@1 10.94 ( 11.0)"),
            "epoch=0 step=10 total=782 <Loss><Loss (avg)><Acc@1><Acc@1 (avg)>");
  EXPECT_EQ(plan("step=10, skipped=6, lr=[9.6e-06, 9.5e-06], mom=[(0.9, 0.95)]"),
            "step=10 <skipped><lr><lr.1><mom><mom.1>");
  EXPECT_EQ(plan("Test set: Average loss: 0.0481, Accuracy: 9842/10000 (98%)"), "<test/Average loss><test/Accuracy>");
}

TEST(LinePlan, KnowsCountersByNameAndByPlace) {
  EXPECT_EQ(plan("Epoch [3/10], Step [100/600], Loss: 0.5"), "epoch=3 step=100 total=600 <Loss>");
  EXPECT_EQ(plan("step:10/6200 train_loss:3.2"), "step=10 total=6200 <train_loss>");
  EXPECT_EQ(plan("s:250 tel:3.5"), "step=250 <tel>");
  EXPECT_EQ(plan("[7]\tvalidation_0-logloss:0.6"), "step=7 <validation_0-logloss>");
  EXPECT_EQ(plan("[ (3 ) Loss:  0.382, valid_Loss: 0.361]"), "step=3 <Loss><valid_Loss>");
  EXPECT_EQ(plan("epoch=0/micro_step=550/global_step=540, loss=2"), "epoch=0 step=540 <loss>");
  EXPECT_EQ(plan("Train: [2/300][10/1251] loss 6.9 (6.8)"),
            "epoch=2 step=10 total=1251 <train/loss><train/loss (avg)>");
  EXPECT_EQ(plan("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.13"), "epoch=1 step=640 total=60000 <train/Loss>");
  EXPECT_EQ(plan("After 1000 training step(s), loss on training batch is 0.5"), "step=1000 <loss on training batch>");
  EXPECT_EQ(plan("Train loss 100 0.53 Grad Norm 1.5"), "step=100 <Train loss><Grad Norm>");
  EXPECT_EQ(plan("Score at iteration 100 is 1.39"), "step=100 <Score>");
  EXPECT_EQ(plan("current step: 4th step"), "step=4 ");
  EXPECT_EQ(plan("INFO: Train 100: loss:0.28"), "step=100 <train/loss>");
  EXPECT_EQ(plan("Epoch: 0/50, Iteration step: 1300, loss: 5.2"), "epoch=0 step=1300 <loss>");
  EXPECT_EQ(plan("Time taken for 1 epoch: 50.2 secs"), "");
  EXPECT_EQ(plan("[eval @   5,000] reward= +252.00  max_x_avg=315"), "step=5,000 <eval/reward><eval/max_x_avg>");
  EXPECT_EQ(plan("[2022-09-01 10:00:01,123][01234] Fps is 3276.8. Total num frames: 40960."), "step=40960 <Fps>");
  EXPECT_EQ(plan("[2022-09-01 10:00:01,124][01234] Avg episode reward: [(0, '4.800')]"), "<Avg episode reward>");
  EXPECT_EQ(plan("[eval] Recall @ 20: 0.31"), "") << "a cut-off";
  EXPECT_EQ(plan("Episode: 12, score: 21.5, steps: 187"), "step=12 <score>");
}

TEST(LinePlan, TakesTwoBracketsInFrontForEpochAndBatch) {
  EXPECT_EQ(plan("[3/25][100/1583]\tLoss_D: 0.5\tLoss_G: 2.1"), "epoch=3 step=100 total=1583 <Loss_D><Loss_G>");
  EXPECT_EQ(plan("[10/99] loss 0.3"), "step=10 total=99 <loss>");
}

TEST(LinePlan, KeepsWhatADiscriminatorSaysApartFromTheNetworks) {
  EXPECT_EQ(plan("step 3 Loss_D: 0.5 D(x): 0.74 D(G(z)): 0.30"), "step=3 <Loss_D><D(x)><D(G(z))>");
  EXPECT_EQ(plan("step 3 time (ms): 12.5 Loss(avg): 0.5"), "step=3 <time><Loss>");
}

TEST(LinePlan, ReadsTheTableOfPycocotools) {
  EXPECT_EQ(plan(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.351"), "<eval/AP>");
  EXPECT_EQ(plan(" Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 0.560"), "<eval/AP50>");
  EXPECT_EQ(plan(" Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.120"), "");
  EXPECT_EQ(plan(" Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ] = 0.301"), "");
}

TEST(LinePlan, TakesAChangeInParenthesesForNoRunningMean) {
  EXPECT_EQ(plan(" | > avg_loss: 0.512 (-0.012)"), "<avg_loss>");
  EXPECT_EQ(plan("step 3 loss -0.91 (-0.90)"), "step=3 <loss><loss (avg)>");
}

TEST(LinePlan, TakesBareSplitsBesideALossForAnotherFigure) {
  EXPECT_EQ(plan("Epoch: 010, Loss: 0.8123, Train: 0.91, Val: 0.79, Test: 0.80"), "epoch=010 <Loss><Train><Val><Test>");
  EXPECT_EQ(plan("Epoch 10 train 2.1 val 2.2"), "epoch=10 <train loss><val loss>");
}

TEST(LinePlan, CarriesTheSplitToTheFiguresBehindIt) {
  EXPECT_EQ(plan("epoch 3 train loss 0.5 acc 0.9 | val loss 0.4 acc 0.8 lr 0.1"),
            "epoch=3 <train loss><train/acc><val loss><val/acc><lr>");
  EXPECT_EQ(plan("2020-06-23 12:11:31,969 DEV : loss 0.67 - score 0.7667"), "<dev/loss><dev/score>");
  EXPECT_EQ(plan("[eval] iter 0: train 9.8508 val 9.8491 lr 7.50e-07"), "step=0 <train loss><val loss><lr>");
  EXPECT_EQ(plan("Averaged stats: loss: 0.5"), "<Averaged stats/loss>");
}

TEST(LinePlan, LeavesSettingsStoriesAndCodeAlone) {
  EXPECT_EQ(plan("Namespace(lr=0.1, reward_scale=1.0)"), "");
  EXPECT_EQ(plan("  (fc1): Linear(in_features=128, out_features=64, bias=True)"), "");
  EXPECT_EQ(plan("loss_scale ................... 0"), "");
  EXPECT_EQ(plan("Epoch 00005: val_loss improved from 0.50000 to 0.40000, saving model"), "epoch=00005 ");
  EXPECT_EQ(plan("Model is improving ppl: inf --> 5.45281."), "");
  EXPECT_EQ(plan("Process 106033 exits successfully."), "");
  EXPECT_EQ(plan("solver.cpp:228] [host:1234:0] step done"), "");
  EXPECT_EQ(plan("    val_loss_every : int = 125 # every how many steps"), "");
  EXPECT_EQ(plan("print(f'step:{step}/100 val_loss:{val_loss:.4f} 10')"), "");
}

TEST(LinePlan, ReadsProgressBars) {
  EXPECT_EQ(plan("Epoch 0:  17%|[=]        | 2665/15493 [23:59<1:55:26,  1.85it/s, v_num=gob0, train_loss_step=1.910]"),
            "epoch=0 step=2665 total=15493 <it/s><train_loss_step>");
  EXPECT_EQ(plan("Epoch 0: :   0%|   | 15/300000 [44:35<14860:53:36, v_num=0, reduced_train_loss=10.6, val_loss=10.4]"),
            "epoch=0 step=15 total=300000 <reduced_train_loss><val_loss>");
  EXPECT_EQ(plan("215/215 [==============================] - 6s 26ms/step - loss: 0.2 - val_loss: 1.5"),
            "step=215 total=215 <ms/step><loss><val_loss>");
}

}  // namespace
}  // namespace osler::text
