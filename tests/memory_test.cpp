// Diagnosis stays in bounded memory: a log eight times as long takes no more of it.
#include <gtest/gtest.h>

#include <filesystem>

#include "long_log.h"

namespace osler {
namespace {

constexpr bool kSanitized = OSLER_SANITIZED;

constexpr double kMostMegabytes = 200;      // what a run of any length may take (docs: numbers to reach)
constexpr double kMostGrowthMegabytes = 8;  // buffers and allocator slack; the longer log is 50 MB larger

/// A file of its own that is gone when the test ends.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::path(::testing::TempDir()) / (std::to_string(getpid()) + name)) {}
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using WriteLog = void (*)(const std::filesystem::path&, std::int64_t steps);

void expect_bounded(WriteLog write, const std::string& name, std::int64_t steps) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  const ScratchFile shorter("-short-" + name);
  const ScratchFile longer("-long-" + name);
  write(shorter.path(), steps);
  write(longer.path(), 8 * steps);
  const std::optional<testing::Effort> small = testing::effort_apart(shorter.path());
  const std::optional<testing::Effort> large = testing::effort_apart(longer.path());
  ASSERT_TRUE(small && large) << "the child process failed";
  EXPECT_EQ(small->points, static_cast<std::uint64_t>(steps));
  EXPECT_EQ(large->points, static_cast<std::uint64_t>(8 * steps));
  EXPECT_LT(large->peak_megabytes, kMostMegabytes);
  EXPECT_LT(large->peak_megabytes, small->peak_megabytes + kMostGrowthMegabytes);
}

TEST(MemoryTest, CsvOfAnyLengthTakesTheSame) {
  expect_bounded(testing::write_long_csv, "metrics.csv", 40'000);
}

TEST(MemoryTest, EventFileOfAnyLengthTakesTheSame) {
  expect_bounded(testing::write_long_event_file, "events.out.tfevents.1.host", 10'000);
}

}  // namespace
}  // namespace osler
