// What every reader of text has to survive: very many series, very long lines, odd numbers, odd encodings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/claim.h"
#include "reading.h"

namespace osler {
namespace {

using ::testing::ElementsAre;
using testing::Outcome;

constexpr int kSeries = 100'000;

/// A log in one format, made of rows of (step, name, value).
struct Writer {
  const char* format;
  const char* path;
  std::string (*text)(const std::vector<std::pair<std::string, std::string>>& columns, int rows);
};

std::string csv_text(const std::vector<std::pair<std::string, std::string>>& columns, int rows) {
  std::string text = "step";
  for (const auto& [name, value] : columns) text += "," + name;
  for (int row = 1; row <= rows; ++row) {
    text += "\n" + std::to_string(row);
    for (const auto& [name, value] : columns) text += ",\"" + value + "\"";
  }
  return text + "\n";
}

std::string json_lines_text(const std::vector<std::pair<std::string, std::string>>& columns, int rows) {
  std::string text;
  for (int row = 1; row <= rows; ++row) {
    text += "{\"step\": " + std::to_string(row);
    for (const auto& [name, value] : columns) text += ", \"" + name + "\": \"" + value + "\"";
    text += "}\n";
  }
  return text;
}

std::string json_text(const std::vector<std::pair<std::string, std::string>>& columns, int rows) {
  std::string text = "{\"step\": [";
  for (int row = 1; row <= rows; ++row) text += (row > 1 ? ", " : "") + std::to_string(row);
  text += "]";
  for (const auto& [name, value] : columns) {
    text += ", \"" + name + "\": [";
    for (int row = 1; row <= rows; ++row) text += std::string(row > 1 ? ", " : "") + "\"" + value + "\"";
    text += "]";
  }
  return text + "}\n";
}

std::string lines_text(const std::vector<std::pair<std::string, std::string>>& columns, int rows) {
  std::string text;
  for (int row = 1; row <= rows; ++row) {
    // One line for every hundred, as nobody prints more into one.
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i % 100 == 0) text += (i > 0 ? "\nstep " : "step ") + std::to_string(row) + " loss 1.5";
      text += " " + columns[i].first + "=" + columns[i].second;
    }
    text += "\n";
  }
  return text;
}

class EveryTextReader : public ::testing::TestWithParam<Writer> {
 protected:
  [[nodiscard]] static Outcome read(const std::string& text) {
    return testing::read_whole_text(*find_format(GetParam().format), GetParam().path, text);
  }
};

INSTANTIATE_TEST_SUITE_P(All, EveryTextReader,
                         ::testing::Values(Writer{"csv", "table.csv", csv_text},
                                           Writer{"json-lines", "log.jsonl", json_lines_text},
                                           Writer{"json", "log.json", json_text},
                                           Writer{"text", "train.log", lines_text}),
                         [](const auto& info) {
                           std::string name = info.param.format;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryTextReader, KeepsAHundredThousandSeriesApart) {
  std::vector<std::pair<std::string, std::string>> columns;
  for (int i = 0; i < kSeries; ++i) columns.emplace_back("s" + std::to_string(i) + "_loss", std::to_string(i % 97));
  const Outcome outcome = read(GetParam().text(columns, 2));
  EXPECT_GE(outcome.sink.names.size() + 1, static_cast<std::size_t>(kSeries));
  EXPECT_THAT(outcome.sink.values("s500_loss"), ElementsAre(15, 15));
}

TEST_P(EveryTextReader, UnderstandsNumbersHoweverTheyAreWritten) {
  const Outcome outcome = read(GetParam().text({{"a_loss", "1,234.5"},
                                                {"b_loss", "1e-4"},
                                                {"c_loss", "inf"},
                                                {"d_grad_norm", "nan"},
                                                {"e_grad_norm", "NaN"},
                                                {"f_loss", "-Infinity"}},
                                               3));
  EXPECT_THAT(outcome.sink.values("a_loss"), ElementsAre(1234.5, 1234.5, 1234.5));
  EXPECT_THAT(outcome.sink.values("b_loss"), ElementsAre(1e-4, 1e-4, 1e-4));
  EXPECT_THAT(outcome.sink.values("c_loss"), ElementsAre(INFINITY, INFINITY, INFINITY));
  EXPECT_TRUE(std::isnan(outcome.sink.values("d_grad_norm").at(2)));
  EXPECT_TRUE(std::isnan(outcome.sink.values("e_grad_norm").at(2)));
  EXPECT_THAT(outcome.sink.values("f_loss"), ElementsAre(-INFINITY, -INFINITY, -INFINITY));
}

TEST_P(EveryTextReader, PassesOverALineOfAMegabyte) {
  const std::string good = GetParam().text({{"loss", "1.5"}, {"val_loss", "2.5"}}, 20);
  if (std::string_view(GetParam().format) == "json") GTEST_SKIP() << "a document has no lines";
  const std::size_t middle = good.find('\n', good.size() / 2) + 1;
  for (const std::size_t length : {std::size_t{1} << 20, std::size_t{3} << 20}) {
    const std::string text = good.substr(0, middle) + std::string(length, 'x') + "\n" + good.substr(middle);
    EXPECT_EQ(read(text).sink.values("val_loss").size(), 20U);
  }
}

TEST_P(EveryTextReader, IsIndifferentToLineEndsAndEncodings) {
  const std::string good = GetParam().text({{"loss", "1.5"}, {"val_loss", "2.5"}}, 20);
  std::string returns;
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : good) {
    returns += c == '\n' ? "\r\n" : std::string(1, c);
    little += {c, '\0'};
    big += {'\0', c};
  }
  const std::vector<Event> expected = read(good).sink.events;
  ASSERT_GE(expected.size(), 40U);
  for (const std::string& text : {returns, little, big, "\xEF\xBB\xBF" + good}) {
    const Outcome outcome = read(text);
    ASSERT_EQ(outcome.sink.events.size(), expected.size());
    EXPECT_EQ(outcome.sink.events.back().value, expected.back().value);
    EXPECT_EQ(outcome.sink.events.back().step, expected.back().step);
    const Peek peek{GetParam().path, text, true};
    ASSERT_NE(claim(peek).format, nullptr);
    EXPECT_EQ(claim(peek).format->id, GetParam().format);
  }
}

}  // namespace
}  // namespace osler
