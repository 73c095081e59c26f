// The spellings of numbers that logs use.
#include "formats/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace osler {
namespace {

double number(std::string_view text, bool decimal_comma = false) {
  const CellValue cell = read_cell(text, decimal_comma);
  EXPECT_EQ(cell.kind, CellKind::number) << text;
  return cell.value;
}

TEST(Numbers, PlainOnes) {
  EXPECT_EQ(number("1"), 1.0);
  EXPECT_EQ(number(" -0.5\t"), -0.5);
  EXPECT_EQ(number("1e-4"), 1e-4);
  EXPECT_EQ(number("+3.5"), 3.5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("9.99998257609161e-05"), 9.99998257609161e-05);
}

TEST(Numbers, NonFiniteOnesInEverySpelling) {
  for (const char* text : {"nan", "NaN", "-nan", "NAN"}) EXPECT_TRUE(std::isnan(number(text))) << text;
  for (const char* text : {"inf", "Infinity", "+inf", "INF"}) {
    EXPECT_EQ(number(text), std::numeric_limits<double>::infinity()) << text;
  }
  EXPECT_EQ(number("-Infinity"), -std::numeric_limits<double>::infinity());
  for (const char* text : {"1.#QNAN", "-1.#IND", "1.#IND00", "1.#SNAN"}) EXPECT_TRUE(std::isnan(number(text))) << text;
  EXPECT_EQ(number("1.#INF"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("-1.#INF00"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("1e999"), std::numeric_limits<double>::infinity());
}

TEST(Numbers, WithThousandsPercentOrATensorAround) {
  EXPECT_EQ(number("1,234.5"), 1234.5);
  EXPECT_EQ(number("-1,234,567"), -1234567.0);
  EXPECT_EQ(number("97.5%"), 97.5);
  EXPECT_EQ(number("97 %"), 97.0);
  EXPECT_EQ(number("tensor(0.25, device='cuda:0')"), 0.25);
  EXPECT_EQ(number("0,5", true), 0.5);
  EXPECT_EQ(number("1.234,5", true), 1234.5);
  EXPECT_EQ(number("12'345.5"), 12345.5);
}

TEST(Numbers, NothingIsNotANumberAndNotText) {
  for (const char* text : {"", "  ", "None", "null", "N/A", "-", "NA", "#N/A"}) {
    EXPECT_EQ(read_cell(text).kind, CellKind::absent) << text;
  }
}

TEST(Numbers, TextIsText) {
  for (const char* text :
       {"abc", "1.2.3", "12,34", "0:00:26", "1 2", "tensor()", "%", "0x1F", "1,2345", "1'2", "1.#", "1.#INF5"}) {
    EXPECT_EQ(read_cell(text).kind, CellKind::text) << text;
  }
}

TEST(Numbers, QuotedTextIsShortAndPrintable) {
  EXPECT_EQ(quotable("a\tb\x01"), "a?b?");
  EXPECT_EQ(quotable("0123456789", 4), "0123...");
}

}  // namespace
}  // namespace osler
