// Diagnosis stays in bounded memory: a log eight times as long takes no more of it.
#include <gtest/gtest.h>

#include <filesystem>

#include "generated_file.h"
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

/// Two gigabytes that nobody has to keep on disk.
constexpr std::uint64_t kHuge = std::uint64_t{2} << 30;
constexpr double kMostMegabytesOfHuge = 250;

void expect_small(testing::MakeRecord make, const std::filesystem::path& path, std::uint64_t size_bytes) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  testing::GeneratedFiles files(std::move(make), size_bytes);
  const std::optional<testing::Effort> effort = testing::effort_apart(path, files);
  ASSERT_TRUE(effort) << "the child process failed";
  EXPECT_GT(effort->points, 0U);
  EXPECT_LT(effort->peak_megabytes, kMostMegabytesOfHuge);
}

/// An event with twenty scalars; only its step changes from record to record.
class EventTemplate {
 public:
  EventTemplate() {
    std::vector<std::pair<std::string, float>> values;
    for (int series = 0; series < testing::kLongSeries; ++series) {
      values.emplace_back(testing::long_series_name(series),
                          static_cast<float>(testing::long_series_value(1, 2, series)));
    }
    testing::EventFileWriter writer;
    const std::size_t before = writer.bytes().size();
    writer.scalars(kFourByteStep, values);
    version_ = writer.bytes().substr(0, before);
    record_ = writer.bytes().substr(before);
  }

  void append(std::uint64_t number, std::string& text) {
    if (number == 0) text += version_;
    std::uint64_t step = kFourByteStep + number;
    for (std::size_t i = 0; i < 4; ++i, step >>= 7) {
      record_[kStepOffset + i] = static_cast<char>((step & 0x7F) | (i < 3 ? 0x80 : 0));
    }
    const std::size_t length = record_.size() - kFrontBytes - sizeof(std::uint32_t);
    const std::uint32_t crc = masked_crc32c(crc32c(std::as_bytes(std::span(record_).subspan(kFrontBytes, length))));
    std::memcpy(record_.data() + kFrontBytes + length, &crc, sizeof crc);
    text += record_;
  }

 private:
  static constexpr std::int64_t kFourByteStep = std::int64_t{1} << 21;  // the smallest number of four varint bytes
  static constexpr std::size_t kFrontBytes = 12;                        // a record's length and its checksum
  static constexpr std::size_t kStepOffset = kFrontBytes + 9 + 1;       // behind the time and the field's number

  std::string version_;
  std::string record_;
};

TEST(MemoryTest, TwoGigabytesOfEventsFitIntoAQuarter) {
  EventTemplate event;
  expect_small([&](std::uint64_t number, std::string& text) { event.append(number, text); }, "events.out.tfevents.1",
               kHuge);
}

TEST(MemoryTest, AQuarterGigabyteOfTextOfNoUseFitsToo) {
  // Every line has another shape, and every thousandth is long: nothing may be kept of them.
  const auto make = [](std::uint64_t number, std::string& text) {
    if (number % 1000 == 7) text += std::string(200'000, 'x') + "\n";
    text += "word" + std::to_string(number * 7919 % 1'000'003) + " = " + std::to_string(number) + "\n";
    text += "step " + std::to_string(number) + " loss 0." + std::to_string(1000 + number % 9000) + "\n";
  };
  expect_small(make, "train.log", kHuge / 8);
}

}  // namespace
}  // namespace osler
