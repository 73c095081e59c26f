// Paths, patterns and pipes become runs.
#include "cli/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/progress.h"

namespace osler::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class InputsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "osler-inputs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* run : {"a", "b"}) write(std::string(run) + ".csv", "step,loss\n0,1.0\n1,0.9\n2,0.8\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] Inputs found(const std::vector<std::string>& paths) const {
    return find_inputs(real_file_system(), paths, {});
  }

  std::filesystem::path folder_;
};

TEST_F(InputsTest, APatternThatTheShellDidNotExpandIsExpanded) {
  EXPECT_THAT(*expand(real_file_system(), path("*.csv")), ElementsAre(path("a.csv"), path("b.csv")));
  EXPECT_EQ(found({path("?.csv")}).runs.size(), 2u);
}

TEST_F(InputsTest, AFileWhoseNameLooksLikeAPatternIsTakenAsItIs) {
  write("x[1].csv", "step,loss\n0,1.0\n1,0.9\n");
  EXPECT_THAT(*expand(real_file_system(), path("x[1].csv")), ElementsAre(path("x[1].csv")));
}

TEST_F(InputsTest, APatternWithoutMatchIsAnErrorThatNamesIt) {
  const Inputs inputs = found({path("*.jsonl")});
  ASSERT_EQ(inputs.failures.size(), 1u);
  EXPECT_THAT(describe(inputs.failures[0]), testing::AllOf(HasSubstr("*.jsonl"), HasSubstr("no file matches")));
}

TEST_F(InputsTest, AMissingFileDoesNotHideTheOthers) {
  const Inputs inputs = found({path("gone.csv"), path("a.csv")});
  EXPECT_EQ(inputs.failures.size(), 1u);
  EXPECT_EQ(inputs.runs.size(), 1u);
}

TEST_F(InputsTest, ARunNamedTwiceIsExaminedOnce) {
  EXPECT_EQ(found({path("a.csv"), folder_.string() + "/./a.csv", "-", "-"}).runs.size(), 2u);
}

TEST_F(InputsTest, APipeIsLeftUnreadUntilItsTurn) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Inputs inputs = found({path("pipe")});  // would wait for ever if it were opened
  ASSERT_EQ(inputs.runs.size(), 1u);
  EXPECT_EQ(inputs.runs[0].stream, path("pipe"));
}

TEST(ProgressText, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_text({512'000'000, 1'000'000'000, 3'000'000}, 2.0),
            " 51 %  512 MB of 1.0 GB  3,000,000 events  1,500,000/s");
  EXPECT_EQ(progress_text({2'000, 0, 10}, 0), "2.0 kB  10 events") << "a pipe has no total";
}

}  // namespace
}  // namespace osler::cli
