// Lines out of bytes, however they are cut.
#include "cli/mcp/line_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace osler::cli::mcp {
namespace {

std::vector<std::string> all_lines(const std::string& bytes, std::size_t piece, std::size_t longest) {
  LineBuffer buffer(longest);
  std::vector<std::string> lines;
  const auto keep = [&lines](const LineBuffer::Line& line) { lines.push_back(line.too_long ? "TOO LONG" : line.text); };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    buffer.add(std::string_view(bytes).substr(at, piece));
    while (const auto line = buffer.next()) keep(*line);
  }
  if (const auto line = buffer.rest()) keep(*line);
  return lines;
}

TEST(LineBuffer, GivesTheSameLinesHoweverTheBytesAreCut) {
  const std::string bytes = "one\ntwo\r\n\nlonger than ten\nlast";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_THAT(all_lines(bytes, piece, 10), testing::ElementsAre("one", "two", "", "TOO LONG", "last")) << piece;
  }
}

TEST(LineBuffer, TellsATooLongRest) {
  EXPECT_THAT(all_lines("0123456789abc", 4, 10), testing::ElementsAre("TOO LONG"));
  EXPECT_THAT(all_lines("0123456789\n", 4, 10), testing::ElementsAre("0123456789"));
  EXPECT_THAT(all_lines("", 4, 10), testing::IsEmpty());
}

}  // namespace
}  // namespace osler::cli::mcp
