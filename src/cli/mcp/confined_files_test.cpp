// What lies below the roots can be read, by whatever name; nothing else can.
#include "cli/mcp/confined_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace osler::cli::mcp {
namespace {

namespace fs = std::filesystem;

class Confinement : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "osler-confined-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = fs::canonical(name);
    fs::create_directories(base_ / "root" / "runs");
    fs::create_directories(base_ / "root-of-others");
    std::ofstream(base_ / "root" / "runs" / "log.csv") << "step,loss\n";
    std::ofstream(base_ / "root-of-others" / "log.csv") << "step,loss\n";
    fs::create_symlink(base_ / "root-of-others", base_ / "root" / "door");
    fs::create_symlink("runs/log.csv", base_ / "root" / "latest.csv");
  }
  void TearDown() override { fs::remove_all(base_); }

  fs::path base_;
};

TEST_F(Confinement, LetsThroughWhatLiesInside) {
  auto files = ConfinedFiles::below({(base_ / "root").string()});
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->open_read(base_ / "root" / "runs" / "log.csv"));
  EXPECT_TRUE(files->open_read(base_ / "root" / "latest.csv")) << "a link that stays inside";
  EXPECT_TRUE(files->list(base_ / "root" / "runs" / ".." / "runs"));
  EXPECT_EQ(files->place("runs/log.csv"), base_ / "root" / "runs" / "log.csv");
  EXPECT_EQ(files->shown(files->place("runs/log.csv")), "runs/log.csv");
}

TEST_F(Confinement, KeepsOutEverythingElse) {
  auto files = ConfinedFiles::below({(base_ / "root").string()});
  ASSERT_TRUE(files);
  const fs::path outside[] = {base_ / "root-of-others" / "log.csv",
                              base_ / "root" / "door" / "log.csv",
                              base_ / "root" / ".." / "root-of-others" / "log.csv",
                              base_ / "root" / "door",
                              base_,
                              "/etc/passwd",
                              base_ / "nothing"};
  for (const fs::path& path : outside) {
    EXPECT_THAT(describe(files->info(path).error()), testing::HasSubstr("outside")) << path;
    EXPECT_FALSE(files->open_read(path)) << path;
    EXPECT_FALSE(files->list(path)) << path;
  }
}

TEST_F(Confinement, NeverWrites) {
  auto files = ConfinedFiles::below({(base_ / "root").string()});
  ASSERT_TRUE(files);
  EXPECT_FALSE(files->open_write(base_ / "root" / "new.csv", WriteMode::truncate));
  EXPECT_FALSE(files->make_directory(base_ / "root" / "new"));
  EXPECT_FALSE(files->rename(base_ / "root" / "latest.csv", base_ / "root" / "newest.csv"));
  EXPECT_FALSE(files->remove(base_ / "root" / "latest.csv"));
  EXPECT_TRUE(fs::exists(base_ / "root" / "latest.csv"));
}

TEST_F(Confinement, TakesSeveralRootsAndNoFilesForRoots) {
  auto files = ConfinedFiles::below({(base_ / "root").string(), (base_ / "root-of-others").string()});
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->open_read(base_ / "root" / "door" / "log.csv"));
  EXPECT_FALSE(ConfinedFiles::below({(base_ / "nothing").string()}));
  EXPECT_FALSE(ConfinedFiles::below({(base_ / "root" / "runs" / "log.csv").string()}));
}

}  // namespace
}  // namespace osler::cli::mcp
