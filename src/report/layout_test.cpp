// What a terminal is given: cleaned, measured, wrapped text.
#include "report/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/numbers.h"
#include "report/utf8.h"
#include "report/words.h"

namespace osler::layout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Clean, MakesEscapesVisibleAndHarmless) {
  EXPECT_EQ(clean("loss\x1b[31m", true), "loss␛[31m");
  EXPECT_EQ(clean("loss\x1b[31m", false), "loss^[[31m");
  EXPECT_EQ(clean("bell\a del\x7f", true), "bell␇ del␡");
}

TEST(Clean, KeepsOneLineOneLine) {
  EXPECT_EQ(clean("a\nb\r\tc\u2028d", true), "a b  c d");
}

TEST(Clean, NeutralisesTheEightBitControlIntroducer) {
  EXPECT_EQ(clean("\xc2\x9b"
                  "31m",
                  true),
            "�31m");
}

TEST(Clean, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(clean("a\xff\xc3", true), "a��");
  EXPECT_EQ(clean("a\xff", false), "a?");
  EXPECT_EQ(clean("\xed\xa0\x80", true), "���") << "a surrogate is not a character";
  EXPECT_EQ(clean("\xc0\x9b", true), "��") << "an overlong form must not smuggle in a control character";
}

TEST(Clean, ReplacesCharactersThatReorderOrHideText) {
  EXPECT_EQ(clean("evil\u202Egnp\u200B", true), "evil�gnp�");
}

TEST(Clean, SpellsOurOwnSignsInAscii) {
  EXPECT_EQ(clean("lr 0.1 → 0.01, 3×, ≥ 2 – 4", false), "lr 0.1 -> 0.01, 3x, >= 2 - 4");
}

TEST(Columns, CountsCellsNotBytes) {
  EXPECT_EQ(columns("loss"), 4);
  EXPECT_EQ(columns("größe"), 5);
  EXPECT_EQ(columns("損失"), 4);
  EXPECT_EQ(columns("e\u0301"), 1);
  EXPECT_EQ(columns(paint("loss", Ink::critical, true)), 4);
}

TEST(Clip, ShowsWhereItCut) {
  EXPECT_EQ(clip("gradient norm", 8, true), "gradien…");
  EXPECT_EQ(clip("gradient norm", 8, false), "gradi...");
  EXPECT_EQ(clip("loss", 8, true), "loss");
  EXPECT_EQ(clip_middle("runs/2024/experiment-42", 12, true), "run…iment-42");
  EXPECT_LE(columns(clip_middle("損失損失損失損失", 7, true)), 7);
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("the loss is NaN from step 12 on", 12), ElementsAre("the loss is", "NaN from", "step 12 on"));
}

TEST(Wrap, BreaksInsideAWordOnlyWhenItIsLongerThanALine) {
  EXPECT_THAT(wrap("ab cdefghijklmnop q", 6), ElementsAre("ab", "cdefgh", "ijklmn", "op q"));
}

TEST(Wrap, ClosesAndReopensAColourAtALineBreak) {
  for (const std::string& line : wrap(paint("one two three four", Ink::critical, true), 9)) {
    EXPECT_TRUE(line.starts_with("\x1b[1;31m")) << line;
    EXPECT_TRUE(line.ends_with("\x1b[0m")) << line;
  }
}

TEST(Wrap, GivesOneEmptyLineForNothing) {
  EXPECT_THAT(wrap("", 10), ElementsAre(""));
}

TEST(Wrap, KeepsTogetherWhatBelongsTogether) {
  Sheet sheet({.width = 40});
  sheet.paragraph("", "the roles of this run are these here " + together("train-loss = a"));
  EXPECT_EQ(sheet.str(), "the roles of this run are these here\ntrain-loss = a\n");
}

TEST(Sheet, NeverWritesMoreThanItsWidth) {
  for (const int width : {40, 57, 100, 120}) {
    Sheet sheet({.width = width});
    sheet.paragraph("    * ", std::string(500, 'x') + " and some words of prose after it");
    std::size_t start = 0;
    const std::string text = sheet.str();
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
      EXPECT_LE(columns(text.substr(start, end - start)), width);
      start = end + 1;
    }
  }
}

TEST(Sheet, CutsAParagraphWithAnEllipsis) {
  Sheet sheet({.width = 40});
  sheet.paragraph("", "one two three four five six seven eight nine ten eleven twelve thirteen", 1);
  EXPECT_EQ(sheet.lines(), 1);
  EXPECT_THAT(sheet.str(), HasSubstr("…"));
}

TEST(Sheet, LeavesNoSpacesAtLineEndsAndNoDoubleBlankLines) {
  Sheet sheet({});
  sheet.blank();
  sheet.line("a   ");
  sheet.blank();
  sheet.blank();
  sheet.line("b");
  EXPECT_EQ(sheet.str(), "a\n\nb\n");
}

TEST(Table, WrapsTheLastColumnBesideTheOthers) {
  Sheet sheet({.width = 40});
  table(sheet, "  ", {{"rise", "3", "how far above its best the loss must climb"}});
  EXPECT_EQ(sheet.str(), "  rise  3  how far above its best the\n           loss must climb\n");
}

TEST(ShortNumber, SaysWhatMattersInFewDigits) {
  EXPECT_EQ(short_number(0.0412345), "0.04123");
  EXPECT_EQ(short_number(2.340), "2.34");
  EXPECT_EQ(short_number(12345.6), "12,346");
  EXPECT_EQ(short_number(3.14159e-7), "3.14e-07");
  EXPECT_EQ(short_number(-2e9), "-2e+09");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(std::nan("")), "NaN");
  EXPECT_EQ(short_number(-HUGE_VAL), "-Inf");
}

TEST(Grouped, SetsThousandsApart) {
  EXPECT_EQ(grouped(std::int64_t{-1234567}), "-1,234,567");
  EXPECT_EQ(grouped(std::int64_t{999}), "999");
  EXPECT_EQ(grouped(std::uint64_t{18446744073709551615u}), "18,446,744,073,709,551,615");
}

TEST(Percent, NeverClaimsCertainty) {
  EXPECT_EQ(percent(0.998), ">99 %");
  EXPECT_EQ(percent(1.0), "100 %");
  EXPECT_EQ(percent(0.003), "<1 %");
  EXPECT_EQ(percent(0.82), "82 %");
  EXPECT_EQ(percent(std::nan("")), "? %");
}

TEST(InWords, NamesConfidence) {
  EXPECT_EQ(in_words(0.98), "almost certain");
  EXPECT_EQ(in_words(0.72), "likely");
  EXPECT_EQ(in_words(0.3), "possible");
}

TEST(ByteCount, PicksTheUnit) {
  EXPECT_EQ(byte_count(812), "812 B");
  EXPECT_EQ(byte_count(1'400'000), "1.4 MB");
  EXPECT_EQ(byte_count(4'000'000'000), "4.0 GB");
}

TEST(Decode, WalksAnyBytesWithoutStopping) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const CodePoint point = decode(text);
      ASSERT_GE(point.bytes, 1u);
      ASSERT_LE(point.bytes, text.size());
      if (point.valid) {
        std::string again;
        append_utf8(again, point.value);
        EXPECT_EQ(again, text.substr(0, point.bytes));
      }
    }
  }
}

}  // namespace
}  // namespace osler::layout
