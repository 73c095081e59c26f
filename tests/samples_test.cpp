// Every sample is read as it is expected to be, however it is cut, and no damage to it brings a reader down.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "reading.h"
#include "samples/sample.h"

namespace osler::testing {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string test_name(const ::testing::TestParamInfo<Sample>& info) {
  std::string name = info.param.format + "_" + info.param.path.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Two outcomes are the same when everything the sink was told is.
void expect_equal(const Outcome& actual, const Outcome& expected) {
  EXPECT_EQ(actual.sink.names, expected.sink.names);
  EXPECT_EQ(actual.sink.configuration, expected.sink.configuration);
  EXPECT_EQ(actual.sink.marks.size(), expected.sink.marks.size());
  EXPECT_EQ(actual.damage.total(), expected.damage.total());
  EXPECT_EQ(actual.damage.lost_bytes(), expected.damage.lost_bytes());
  EXPECT_EQ(actual.error.has_value(), expected.error.has_value());
  ASSERT_EQ(actual.sink.events.size(), expected.sink.events.size());
  for (std::size_t i = 0; i < actual.sink.events.size(); ++i) {
    const Event& a = actual.sink.events[i];
    const Event& b = expected.sink.events[i];
    // NaN differs from itself, so values and times are compared by their bits.
    ASSERT_TRUE(a.series == b.series && a.step == b.step && std::memcmp(&a.value, &b.value, sizeof a.value) == 0 &&
                std::memcmp(&a.wall_time, &b.wall_time, sizeof a.wall_time) == 0)
        << "event " << i;
  }
}

/// Where a sample is cut or flipped: at every byte of a small one, at two thousand places of a large one. The distance
/// is odd, so that all parts of records of even length are hit.
std::size_t stride_over(const std::string& bytes) {
  constexpr std::size_t kSmall = 4096;
  return bytes.size() <= kSmall ? 1 : (bytes.size() / 2000) | 1;
}

class Samples : public ::testing::TestWithParam<Sample> {
 protected:
  /// Calls `check(format, path, bytes)` for each file of the sample that a format claims.
  template <typename Check>
  void for_each_file(Check&& check) {
    const Format* format = find_format(GetParam().format);
    ASSERT_NE(format, nullptr) << "the folder is not named after a format";
    for (const fs::path& path : files_of(GetParam())) {
      const std::string bytes = bytes_of(path);
      const Peek peek{path, std::string_view(bytes).substr(0, kPeekBytes), bytes.size() <= kPeekBytes};
      if (format->sniff(peek) != Sniff::no) check(*format, path, bytes);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, Samples, ::testing::ValuesIn(all_samples()), test_name);

TEST_P(Samples, AreReadAsExpected) {
  std::ifstream file(GetParam().expectation());
  ASSERT_TRUE(file) << "no " << GetParam().expectation();
  const nlohmann::json expected = nlohmann::json::parse(file);
  EXPECT_EQ(describe_sample(GetParam()), expected);
  EXPECT_EQ(expected["format"], GetParam().format);
}

TEST_P(Samples, GiveTheSameInPiecesOfAnySize) {
  for_each_file([](const Format& format, const fs::path& path, const std::string& bytes) {
    const Outcome whole = read_whole_text(format, path, bytes);
    expect_equal(read_in_pieces(format, path, bytes, [] { return std::size_t{1}; }), whole);
    std::mt19937 random(1);
    for (int round = 0; round < 5; ++round) {
      expect_equal(read_in_pieces(format, path, bytes, [&] { return 1 + random() % 100; }), whole);
    }
  });
}

TEST_P(Samples, CanBeCutAtEveryByte) {
  for_each_file([](const Format& format, const fs::path& path, const std::string& bytes) {
    const Outcome whole = read_whole_text(format, path, bytes);
    for (std::size_t size = 0; size < bytes.size(); size += stride_over(bytes)) {
      const Outcome cut = read_whole_text(format, path, std::string_view(bytes).substr(0, size));
      // A cut may turn one number into another and move the axis, but it cannot make points.
      ASSERT_LE(cut.sink.events.size(), whole.sink.events.size() + 8) << "cut at " << size;
      ASSERT_TRUE(!cut.error || cut.error->code == ErrorCode::truncated) << "cut at " << size;
    }
  });
}

TEST_P(Samples, CanHaveAnyByteFlipped) {
  for_each_file([](const Format& format, const fs::path& path, const std::string& bytes) {
    std::string flipped = bytes;
    for (std::size_t i = 0; i < bytes.size(); i += stride_over(bytes)) {
      for (const char mask : {'\x01', '\x20', '\x80', '\xFF'}) {
        flipped[i] = static_cast<char>(bytes[i] ^ mask);
        const Outcome outcome = read_whole_text(format, path, flipped);
        ASSERT_LE(outcome.sink.events.size(), 20 * bytes.size());
        flipped[i] = bytes[i];
      }
    }
  });
}

TEST_P(Samples, SurviveTheSniffersOfAllFormats) {
  for (const fs::path& path : files_of(GetParam())) {
    const std::string bytes = bytes_of(path);
    for (const auto& entry : formats()) {
      for (std::size_t size = 0; size <= bytes.size(); size += 1 + bytes.size() / 64) {
        const Sniff sniffed = entry.descriptor.sniff({path, std::string_view(bytes).substr(0, size), true});
        ASSERT_TRUE(sniffed == Sniff::no || sniffed == Sniff::possible || sniffed == Sniff::certain);
      }
    }
  }
}

/// Samples of text are read the same with any line ends and encoding.
TEST_P(Samples, DoNotDependOnLineEndsAndEncoding) {
  for_each_file([](const Format& format, const fs::path& path, const std::string& bytes) {
    const bool plain = std::all_of(bytes.begin(), bytes.end(),
                                   [](unsigned char c) { return c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7F); });
    if (!plain || format.part == Part::configuration || path.extension() == "") return;
    const Outcome expected = read_whole_text(format, path, bytes);
    std::string with_returns;
    std::string wide = "\xFF\xFE";
    for (const char c : bytes) {
      with_returns += c == '\n' ? "\r\n" : std::string(1, c);
      wide += c;
      wide += '\0';
    }
    expect_equal(read_whole_text(format, path, with_returns), expected);
    expect_equal(read_whole_text(format, path, "\xEF\xBB\xBF" + bytes), expected);
    expect_equal(read_whole_text(format, path, wide), expected);
  });
}

TEST(Samples, EveryFormatHasOne) {
  const std::vector<Sample> samples = all_samples();
  for (const auto& entry : formats()) {
    const std::string_view id = entry.descriptor.id;
    EXPECT_TRUE(std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) { return sample.format == id; }))
        << "no sample in tests/samples/" << id;
  }
}

}  // namespace
}  // namespace osler::testing
