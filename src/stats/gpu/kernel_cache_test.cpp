// The cache of compiled kernels, and the compiler where there is one.
#include "stats/gpu/kernel_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stats/gpu/compiler.h"

namespace osler::stats::gpu {
namespace {

class KernelCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("osler-kernels-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(KernelCache, GivesBackWhatWasWritten) {
  const Image image = {'\x7F', 'E', 'L', 'F', '\0', 'x'};
  const std::string file = cache_file((folder_ / "new").string(), "source", 90);
  EXPECT_FALSE(read_cached(file));
  ASSERT_TRUE(write_cached(file, image)) << "the folder is made";
  ASSERT_TRUE(read_cached(file));
  EXPECT_EQ(*read_cached(file), image);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder_ / "new")) files += each.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1U) << "nothing half-written is left";
}

TEST_F(KernelCache, OtherSourcesAndDevicesHaveOtherFiles) {
  const std::string file = cache_file("here", "source", 90);
  EXPECT_EQ(file, cache_file("here", "source", 90));
  EXPECT_NE(file, cache_file("here", "source ", 90));
  EXPECT_NE(file, cache_file("here", "source", 80));
}

TEST_F(KernelCache, DamagedAndTruncatedFilesAreNotBelieved) {
  const std::string file = cache_file(folder_.string(), "source", 90);
  ASSERT_TRUE(write_cached(file, Image(100, 'k')));
  std::filesystem::resize_file(file, 60);
  EXPECT_FALSE(read_cached(file));
  ASSERT_TRUE(write_cached(file, Image(100, 'k')));
  {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(90);
    out.put('x');
  }
  EXPECT_FALSE(read_cached(file));
  std::ofstream(file, std::ios::binary) << "something else entirely, longer than a header is";
  EXPECT_FALSE(read_cached(file));
}

TEST_F(KernelCache, AFolderThatCannotBeWrittenIsNoFault) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_FALSE(write_cached(cache_file((folder_ / "file").string(), "source", 90), Image(10, 'k')));
}

TEST(Compiler, WithoutNvrtcItSaysWhatWasTried) {
  // A path that exists nowhere comes first; the usual names may or may not be there.
  const auto image = compile("", 90, {"/nowhere/libnvrtc.so"});
  if (image) GTEST_SKIP() << "this machine has NVRTC";
  if (image.error().code == ErrorCode::not_found) {
    EXPECT_NE(image.error().message.find("/nowhere/libnvrtc.so, libnvrtc.so.13"), std::string::npos);
    EXPECT_NE(image.error().message.find("was not found"), std::string::npos);
  }
}

/// What OSLER_TEST_NVRTC names, a path of libnvrtc, comes before what the loader knows.
std::vector<std::string> libraries() {
  const char* const path = std::getenv("OSLER_TEST_NVRTC");
  return path != nullptr ? std::vector<std::string>{path} : std::vector<std::string>{};
}

TEST(Compiler, TheKernelsCompileForEveryDeviceThatIsServed) {
  for (const int capability : {75, 80, 90, 999}) {
    const auto image = compile(kernel_source(), capability, libraries());
    if (!image && image.error().code == ErrorCode::not_found) GTEST_SKIP() << describe(image.error());
    ASSERT_TRUE(image) << describe(image.error());
    const std::string code(image->begin(), image->end());
    // A device that the compiler does not know yet gets PTX, which its driver translates.
    EXPECT_NE(code.find(capability == 999 ? ".entry finish_summaries" : "finish_summaries"), std::string::npos);
    EXPECT_EQ(code.substr(1, 3) == "ELF", capability != 999);
  }
}

TEST(Compiler, AMistakeIsToldInTheCompilersWords) {
  const auto image = compile("__global__ void broken() { nonsense }", 90, libraries());
  ASSERT_FALSE(image);
  if (image.error().code == ErrorCode::not_found) GTEST_SKIP() << describe(image.error());
  EXPECT_NE(image.error().message.find("nonsense"), std::string::npos) << image.error().message;
}

}  // namespace
}  // namespace osler::stats::gpu
