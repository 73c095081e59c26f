// What only a terminal understands goes; everything else stays as it is.
#include "formats/text/plain_text.h"

#include <gtest/gtest.h>

namespace osler::text {
namespace {

std::string plain(std::string_view line) {
  std::string scratch;
  return std::string(plain_text(line, scratch));
}

TEST(PlainText, DropsColoursAndCursorMoves) {
  EXPECT_EQ(plain("\x1b[1;31mloss\x1b[0m: \x1b[K0.5"), "loss: 0.5");
  EXPECT_EQ(plain("\x1b]0;title\aloss 1"), "loss 1");
  EXPECT_EQ(plain("cut \x1b[3"), "cut ");
}

TEST(PlainText, TurnsBarsAndBoxesIntoAscii) {
  EXPECT_EQ(plain(" 42%|████▏     | 42/100"), " 42%|[=]     | 42/100");
  EXPECT_EQ(plain("━━━━━╸━━━ 5/9"), "[=] 5/9");
  EXPECT_EQ(plain("│ loss ┃ 0.5 ║"), "| loss | 0.5 |");
}

TEST(PlainText, TurnsWidePunctuationIntoAscii) {
  EXPECT_EQ(plain("损失：0.5，步数：10"), "损失: 0.5, 步数: 10");
  EXPECT_EQ(plain("loss – 0.5 → 0.4"), "loss - 0.5 -> 0.4");
  EXPECT_EQ(plain("loss −0.5"), "loss -0.5");
}

TEST(PlainText, PutsOrdinalsOfChineseAndJapaneseIntoEnglish) {
  EXPECT_EQ(plain("第12轮 损失: 0.5"), "epoch 12  损失: 0.5");
  EXPECT_EQ(plain("第 3 步，损失：0.5"), "step 3 , 损失: 0.5");
  EXPECT_EQ(plain("第4エポック loss 0.5"), "epoch 4  loss 0.5");
  EXPECT_EQ(plain("第5章 第轮"), "第5章 第轮");
}

TEST(BareNumbers, ComeOutOfWhatFrameworksPrintAroundThem) {
  const auto bare = [](std::string_view line) {
    std::string scratch;
    return std::string(bare_numbers(line, scratch));
  };
  EXPECT_EQ(bare("{'loss': tensor(1.94, device='cuda:0', grad_fn=<NllLossBackward0>), 'val': tensor(2.)}"),
            "{'loss': 1.94, 'val': 2.}");
  EXPECT_EQ(bare("loss np.float32(0.5) acc jax.Array(nan, dtype=float32)"), "loss 0.5 acc nan");
  EXPECT_EQ(bare("tensor([1, 2]) tensor(shape) tensor(1"), "tensor([1, 2]) tensor(shape) tensor(1");
}

TEST(PlainText, LeavesOtherTextAlone) {
  const std::string line = "plain text";
  std::string scratch;
  EXPECT_EQ(plain_text(line, scratch).data(), line.data());
  EXPECT_EQ(plain("Größe \xC4\xE3\xBA\xC3 \xFF\xFE"), "Größe \xC4\xE3\xBA\xC3 \xFF\xFE");
}

}  // namespace
}  // namespace osler::text
