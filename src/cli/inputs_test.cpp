// Paths, patterns and pipes become runs.
#include "cli/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "osler/runfile/writer.h"

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

TEST_F(InputsTest, RunFilesAreRecognisedAloneAndAmongOtherLogs) {
  std::filesystem::create_directory(folder_ / "kept");
  for (const char* name : {"kept/run.osler", "renamed.db"}) {
    auto writer = RunFileWriter::open(path(name));
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    for (int step = 0; step < 10; ++step) writer->add(Event{loss, step, kNoTime, 1.0 / (step + 1)});
  }
  const Inputs inputs = found({path("renamed.db"), path("kept"), folder_.string(), path("kept/run.osler")});
  EXPECT_TRUE(inputs.failures.empty());
  std::vector<std::string> run_files;
  std::size_t others = 0;
  for (const Input& input : inputs.runs) {
    if (input.run_file.empty()) {
      ++others;
    } else {
      run_files.push_back(input.run_file);
    }
  }
  EXPECT_THAT(run_files, ElementsAre(path("renamed.db"), path("kept/run.osler")));
  EXPECT_EQ(others, 2u);
  const Interrupt interrupt;
  const auto run = read_input(inputs.runs[1], interrupt, {}, true);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->format, "osler");
  EXPECT_EQ(run->find("loss")->summary().points(), 10u);
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
