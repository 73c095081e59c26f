// What a library advises is followed by the option of the program that does it.
#include "cli/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "osler/base/file_system.h"
#include "osler/gallery/recipe.h"
#include "osler/server/server.h"

namespace osler::cli {
namespace {

using testing::EndsWith;

TEST(Hint, FollowsTheAdviceOfALibrary) {
  gallery::Recipe recipe;
  const auto knob = gallery::set(recipe, "nonsense", "1");
  ASSERT_FALSE(knob);
  EXPECT_THAT(describe_with_options(knob.error()), EndsWith(" (osler gallery --knobs lists what it has)"));

  ServeOptions open_to_all;
  open_to_all.address = "0.0.0.0";
  const auto server = Server::open(real_file_system(), open_to_all);
  ASSERT_FALSE(server);
  EXPECT_THAT(describe_with_options(server.error()), EndsWith(" (--token-file FILE, or the variable OSLER_TOKEN)"));
}

TEST(Hint, SeveralStandInOneBracket) {
  const Error error{ErrorCode::unsupported, "name its format and say what its series mean", "a.txt"};
  EXPECT_THAT(describe_with_options(error), EndsWith(" (--format ID, --role train-loss=NAME)"));
}

TEST(Hint, IsNotGivenWhereNothingIsAdvised) {
  EXPECT_EQ(describe_with_options({ErrorCode::io, "No such file or directory", "a.csv"}),
            "a.csv: No such file or directory");
}

}  // namespace
}  // namespace osler::cli
