// Lines come out the same whatever ends them, encodes them or cuts them.
#include "formats/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace osler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Split {
  std::vector<std::string> lines;
  std::vector<std::uint64_t> numbers;
  DamageReport damage;
};

Split split(std::string_view text, std::size_t piece) {
  Split result;
  LineSplitter splitter;
  const auto take = [&](const Line& line) {
    result.lines.emplace_back(line.text);
    result.numbers.push_back(line.number);
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    splitter.feed(std::as_bytes(std::span(text.substr(at, piece))), result.damage, take);
  }
  splitter.finish(result.damage, take);
  return result;
}

std::string utf16(std::u16string_view text, bool little) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFF);
    const char high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  }
  return bytes;
}

class LinesInPieces : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, LinesInPieces, ::testing::Values(1, 2, 3, 5, 1000));

TEST_P(LinesInPieces, EveryLineEndIsOne) {
  for (const std::string_view text : {"a,1\nb,2\nc", "a,1\r\nb,2\r\nc\r\n", "a,1\rb,2\rc\r", "a,1\r\r\nb,2\r\r\nc\n"}) {
    const Split result = split(text, GetParam());
    EXPECT_THAT(result.lines, ElementsAre("a,1", "b,2", "c"));
    EXPECT_THAT(result.numbers, ElementsAre(1, 2, 3));
  }
}

TEST_P(LinesInPieces, EmptyLinesAreCountedAndLeftOut) {
  const Split result = split("a\n\n\nb\n", GetParam());
  EXPECT_THAT(result.lines, ElementsAre("a", "b"));
  EXPECT_THAT(result.numbers, ElementsAre(1, 4));
}

TEST_P(LinesInPieces, AByteOrderMarkIsNoText) {
  EXPECT_THAT(split("\xEF\xBB\xBFstep\n1\n", GetParam()).lines, ElementsAre("step", "1"));
  EXPECT_THAT(split("\xEF\xBB\xBF", GetParam()).lines, IsEmpty());
}

TEST_P(LinesInPieces, Utf16IsReadWithAndWithoutAMark) {
  const std::u16string text = u"\u00e9tape,\U0001F600\r\n1,2\r\n";
  const std::vector<std::string> expected = {"\xC3\xA9tape,\xF0\x9F\x98\x80", "1,2"};
  EXPECT_EQ(split(utf16(u"\uFEFF" + text, true), GetParam()).lines, expected);
  EXPECT_EQ(split(utf16(u"\uFEFF" + text, false), GetParam()).lines, expected);
  EXPECT_THAT(split(utf16(u"step,loss\n1,2", true), GetParam()).lines, ElementsAre("step,loss", "1,2"));
  EXPECT_THAT(split(utf16(u"step,loss\n1,2", false), GetParam()).lines, ElementsAre("step,loss", "1,2"));
}

TEST_P(LinesInPieces, OtherEncodingsPassAsTheyAre) {
  EXPECT_THAT(split("\xB2\xBD,\xFF\n1,2\n", GetParam()).lines, ElementsAre("\xB2\xBD,\xFF", "1,2"));
}

TEST(Lines, ALineOfAMegabyteIsALine) {
  const std::string text = std::string(1 << 20, 'x') + "\nshort\n";
  EXPECT_THAT(split(text, 4096).lines, SizeIs(2));
}

TEST(Lines, AnEndlessLineIsSkippedAndReported) {
  const std::string text = std::string(LineSplitter::kLongestLine + 10, 'x') + "\nshort\n";
  const Split result = split(text, 1 << 16);
  EXPECT_THAT(result.lines, ElementsAre("short"));
  ASSERT_THAT(result.damage.items(), SizeIs(1));
  EXPECT_EQ(result.damage.items()[0].line, 1U);
  EXPECT_EQ(result.damage.lost_bytes(), LineSplitter::kLongestLine + 10);
}

}  // namespace
}  // namespace osler
