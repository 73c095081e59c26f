// Addresses of stores, and what is no address.
#include "osler/store/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace osler {
namespace {

using ::testing::HasSubstr;

TEST(StoreAddress, HasItsPartsAndFillsInTheRest) {
  const auto whole = parse_store_address("clickhouses://ann@store.example.org:9440/osler?project=vision%20team");
  ASSERT_TRUE(whole) << describe(whole.error());
  EXPECT_EQ(*whole, (StoreAddress{true, "ann", "store.example.org", 9440, "osler", "vision team"}));
  const auto least = parse_store_address("clickhouse://localhost/osler");
  ASSERT_TRUE(least) << describe(least.error());
  EXPECT_EQ(*least, (StoreAddress{false, "default", "localhost", 8123, "osler", "default"}));
}

TEST(StoreAddress, ReadsBackWhatItWrites) {
  for (const char* text :
       {"clickhouse://h/db", "clickhouses://ann@h:1/db?project=a%26b", "clickhouse://[::1]:8123/db"}) {
    const auto address = parse_store_address(text);
    ASSERT_TRUE(address) << text;
    const auto again = parse_store_address(to_string(*address));
    ASSERT_TRUE(again) << to_string(*address);
    EXPECT_EQ(*again, *address);
  }
}

TEST(StoreAddress, RefusesAPasswordAndDoesNotShowIt) {
  const auto address = parse_store_address("clickhouse://ann:secret@h/db");
  ASSERT_FALSE(address);
  EXPECT_THAT(describe(address.error()), HasSubstr("OSLER_STORE_PASSWORD"));
  EXPECT_THAT(describe(address.error()), ::testing::Not(HasSubstr("secret")));
}

TEST(StoreAddress, SaysWhatIsMissing) {
  for (const char* text : {"", "h/db", "clickhouse://", "clickhouse://h", "clickhouse://h/", "clickhouse://h/a;b",
                           "clickhouse://h:0/db", "clickhouse://h:99999/db", "clickhouse://h:x/db",
                           "clickhouse://h/db?team=x", "clickhouse://h/db?project=", "clickhouse://@h/db"}) {
    EXPECT_FALSE(parse_store_address(text)) << text;
  }
}

}  // namespace
}  // namespace osler
