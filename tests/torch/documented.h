// What the guide to the monitor says of a trial, so that its table says no more than the trials show.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace osler::torch::trial {

struct Documented {
  std::size_t right = 0;
  std::size_t all = 0;
};

/// The number at the end of the words, before the last word if that is none: 69 of "by step alone, 69 origins".
inline std::optional<std::size_t> last_number(std::string_view words) {
  std::size_t end = words.find_last_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(words[begin - 1])) != 0) --begin;
  return std::stoul(std::string(words.substr(begin, end - begin + 1)));
}

/// The row of the table under "How right it is" that begins so.
inline std::optional<Documented> documented(std::string_view beginning) {
  std::ifstream guide(std::string(OSLER_SOURCE_DIR) + "/docs/guides/monitor.md");
  for (std::string line; std::getline(guide, line);) {
    if (!line.starts_with("| " + std::string(beginning))) continue;
    const std::size_t first = line.find('|', 1);
    const std::size_t second = line.find('|', first + 1);
    if (first == std::string::npos || second == std::string::npos) return std::nullopt;
    const auto all = last_number(std::string_view(line).substr(0, first));
    const auto right = last_number(std::string_view(line).substr(first, second - first));
    if (all && right) return Documented{*right, *all};
  }
  return std::nullopt;
}

/// When the budget lets the monitor look depends on the clock, and with it, now and then, what is found: a measurement
/// may fall short of the table by so many.
constexpr std::size_t kByTheClock = 2;

inline void expect_as_documented(std::string_view beginning, std::size_t right, std::size_t all) {
  const auto told = documented(beginning);
  ASSERT_TRUE(told) << "no row begins with: " << beginning;
  EXPECT_EQ(told->all, all) << beginning;
  EXPECT_GE(right + kByTheClock, told->right) << beginning;
}

}  // namespace osler::torch::trial
