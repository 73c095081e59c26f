// What a Result, an Error and a DamageReport promise.
#include "osler/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "osler/base/damage.h"

namespace osler {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return Error{ErrorCode::invalid_argument, "is odd", std::to_string(number)};
  return number / 2;
}

Result<void> require_positive(int number) {
  if (number <= 0) return Error{ErrorCode::invalid_argument, "is not positive", std::to_string(number)};
  return {};
}

TEST(Result, HoldsTheValueOfASuccess) {
  const auto result = half_of(8);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value(), 4);
  EXPECT_EQ(result.value_or(-1), 4);
}

TEST(Result, HoldsTheErrorOfAFailure) {
  const auto result = half_of(7);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), (Error{ErrorCode::invalid_argument, "is odd", "7"}));
  EXPECT_EQ(result.value_or(-1), -1);
}

TEST(Result, OfVoidTellsSuccessFromFailure) {
  EXPECT_TRUE(require_positive(1).has_value());
  const auto failure = require_positive(-3);
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().context, "-3");
}

TEST(Result, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(*result);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, GivesAccessToMembersAndLetsThemChange) {
  Result<std::string> result = std::string("loss");
  result->append("es");
  EXPECT_EQ(result->size(), 6U);
  EXPECT_EQ(*result, "losses");
}

TEST(Result, CanCarryAnErrorOn) {
  auto inner = half_of(3);
  const Result<std::string> outer = std::move(inner).error();
  ASSERT_FALSE(outer);
  EXPECT_EQ(outer.error().message, "is odd");
}

TEST(Error, HasADifferentKebabNameForEachCode) {
  std::set<std::string_view> names;
  for (const ErrorCode code : {ErrorCode::io, ErrorCode::not_found, ErrorCode::truncated, ErrorCode::corrupt,
                               ErrorCode::unsupported, ErrorCode::invalid_argument, ErrorCode::internal}) {
    EXPECT_THAT(std::string(to_string(code)), testing::MatchesRegex("[a-z]+(-[a-z]+)*"));
    names.insert(to_string(code));
  }
  EXPECT_EQ(names.size(), 7U);
}

TEST(Error, IsDescribedOnOneLineWithItsContextFirst) {
  EXPECT_EQ(describe({ErrorCode::corrupt, "bad checksum", "run.tfevents"}), "run.tfevents: bad checksum");
  EXPECT_EQ(describe({ErrorCode::internal, "no memory", ""}), "no memory");
}

Damage damage_at(std::uint64_t line) {
  return {"log.csv", line * 10, line, "not a number", 3};
}

TEST(DamageReport, IsEmptyAtFirst) {
  const DamageReport report;
  EXPECT_TRUE(report.empty());
  EXPECT_EQ(report.total(), 0U);
}

TEST(DamageReport, KeepsTheFirstInFullAndCountsTheRest) {
  DamageReport report;
  const std::uint64_t many = DamageReport::kKept + 50;
  for (std::uint64_t line = 1; line <= many; ++line) report.add(damage_at(line));
  EXPECT_FALSE(report.empty());
  EXPECT_EQ(report.total(), many);
  EXPECT_EQ(report.lost_bytes(), 3 * many);
  ASSERT_EQ(report.items().size(), DamageReport::kKept);
  EXPECT_EQ(report.items().front(), damage_at(1));
  EXPECT_EQ(report.items().back(), damage_at(DamageReport::kKept));
}

TEST(DamageReport, MergesWithoutLosingCount) {
  DamageReport left;
  DamageReport right;
  for (std::uint64_t line = 1; line <= 80; ++line) left.add(damage_at(line));
  for (std::uint64_t line = 81; line <= 200; ++line) right.add(damage_at(line));
  left.merge(right);
  EXPECT_EQ(left.total(), 200U);
  EXPECT_EQ(left.lost_bytes(), 600U);
  ASSERT_EQ(left.items().size(), DamageReport::kKept);
  EXPECT_EQ(left.items()[79], damage_at(80));
  EXPECT_EQ(left.items()[80], damage_at(81));
}

}  // namespace
}  // namespace osler
