// Columns come back bit for bit, take few bytes, and reject what they did not write.
#include "runfile/columns.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace osler::runfile {
namespace {

std::string packed(const std::vector<double>& values) {
  std::string bytes;
  append_values(values, bytes);
  return bytes;
}

void expect_same_bits(const std::vector<double>& values) {
  const std::string bytes = packed(values);
  ColumnReader reader(bytes);
  std::vector<double> back;
  ASSERT_TRUE(reader.values(values.size(), back));
  EXPECT_TRUE(reader.done());
  ASSERT_EQ(back.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i])) << "value " << i;
  }
}

std::vector<double> noisy_floats(std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.03);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((0.5 + 2 / (1 + 0.001 * static_cast<double>(i))) * (1 + noise(random))));
  }
  return values;
}

TEST(Columns, KeepEveryBitOfEveryKindOfValue) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double odd_nan = std::bit_cast<double>(std::uint64_t{0x7FF8'0000'DEAD'BEEF});
  expect_same_bits({});
  expect_same_bits({0.0, -0.0, 1e-310, -1e300, kInf, -kInf, std::nan(""), odd_nan, 0.1});
  expect_same_bits({1.5, -0.0, -2.25, kInf, static_cast<double>(std::numeric_limits<float>::denorm_min())});
  expect_same_bits({0.1, 12.35, -7, 0.001, 123456.789});
  expect_same_bits({1, 2, 3, 4, 5});
  expect_same_bits(noisy_floats(4096));
  std::mt19937_64 random(3);
  std::vector<double> any;
  for (int i = 0; i < 5000; ++i) any.push_back(std::bit_cast<double>(random()));
  expect_same_bits(any);
}

TEST(Columns, TakeFewBytes) {
  EXPECT_LT(packed(noisy_floats(4096)).size(), 4096 * 2.7);
  EXPECT_LT(packed(std::vector<double>(4096, 3e-4)).size(), 300U);
  std::vector<double> printed;
  std::mt19937_64 random(5);
  for (int i = 0; i < 4096; ++i) printed.push_back(static_cast<double>(20000 + random() % 300) / 10000);
  EXPECT_LT(packed(printed).size(), 4096 * 1.5);
}

TEST(Columns, KeepIntegersAndMakeEvenPaceFree) {
  std::vector<std::int64_t> steps;
  for (int i = 0; i < 4096; ++i) steps.push_back(1000 + 50 * i);
  std::string bytes;
  append_integers(steps, bytes);
  EXPECT_LT(bytes.size(), 64U);
  steps = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), -1, 0, 1, 1, 1};
  bytes.clear();
  append_integers(steps, bytes);
  ColumnReader reader(bytes);
  std::vector<std::int64_t> back;
  ASSERT_TRUE(reader.integers(steps.size(), back));
  EXPECT_EQ(back, steps);
}

TEST(Columns, RejectWhatDoesNotAddUpWithoutHarm) {
  const std::vector<double> values = noisy_floats(300);
  const std::string good = packed(values);
  std::vector<double> back;
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(ColumnReader(std::string_view(good).substr(0, length)).values(values.size(), back));
  }
  EXPECT_FALSE(ColumnReader(good).values(values.size() + 1, back));
  EXPECT_FALSE(ColumnReader(good).values(values.size() - 1, back));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    if (ColumnReader(bad).values(values.size(), back)) {
      EXPECT_EQ(back.size(), values.size());
    }
  }
}

}  // namespace
}  // namespace osler::runfile
