// Names keep their numbers in whatever order they are asked for.
#include "recorder/name_book.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace osler::recording {
namespace {

TEST(NameBook, CountsNewNamesUpFromZero) {
  NameBook book;
  EXPECT_TRUE(book.enter("loss").fresh);
  EXPECT_EQ(book.enter("accuracy").number, 1U);
  EXPECT_EQ(book.enter("loss").number, 0U);
  EXPECT_FALSE(book.enter("accuracy").fresh);
  EXPECT_EQ(book.size(), 2U);
}

TEST(NameBook, TellsNamesApartThatLieInTheSameMemory) {
  NameBook book;
  std::string name = "loss";
  for (int round = 0; round < 3; ++round) {
    name[0] = 'l';
    EXPECT_EQ(book.enter(name).number, 0U);
    name[0] = 'b';
    EXPECT_EQ(book.enter(name).number, 1U);
  }
}

TEST(NameBook, KeepsNumbersWhenTheOrderChanges) {
  NameBook book;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("gradients/layer." + std::to_string(i));
  for (const std::string& name : names) EXPECT_TRUE(book.enter(name).fresh);
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::size_t at = random() % names.size();
    EXPECT_EQ(book.enter(names[at]).number, at);
  }
  EXPECT_EQ(book.size(), names.size());
}

}  // namespace
}  // namespace osler::recording
