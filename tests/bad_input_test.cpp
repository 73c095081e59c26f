// Bad input gives a clear line or a partial diagnosis, and never a crash.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "event_file_writer.h"
#include "json_schema.h"
#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BadInputTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome osler(std::vector<std::string> arguments) const {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder_.path();
    return run(call);
  }

  /// Exit code 2, nothing on standard output, and one line on standard error that names the input.
  void expect_refusal(const std::string& name) const {
    const Outcome outcome = osler({"diagnose", name});
    EXPECT_EQ(outcome.exit_code, 2) << name << "\n" << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << name;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("osler: "), HasSubstr(name)));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  Folder folder_;
};

/// A run as TensorBoard records it: a loss that falls and then is NaN.
std::string event_file() {
  ::osler::testing::EventFileWriter writer;
  for (int step = 0; step < 400; ++step) {
    const double loss = 0.3 + 2.0 / std::sqrt(step + 1.0) * (1 + 0.02 * noise(step, 9));
    writer.scalar("train/loss", step, step < 300 ? static_cast<float>(loss) : std::nanf(""));
  }
  return writer.bytes();
}

TEST_F(BadInputTest, EmptyFile) {
  expect_refusal(folder_.write("empty.csv", ""));
}

TEST_F(BadInputTest, MissingFile) {
  expect_refusal("gone.csv");
}

TEST_F(BadInputTest, FolderWithoutARun) {
  folder_.write("folder/readme.md", "# nothing to see\n");
  expect_refusal("folder");
}

TEST_F(BadInputTest, BinaryFile) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(static_cast<int>(noise(i, 7) * 127));
  expect_refusal(folder_.write("model.bin", bytes));
}

TEST_F(BadInputTest, TextInANumericColumnIsSteppedOverAndSaid) {
  std::string text = nan_csv();
  const std::size_t row = text.find("\n100,") + 1;
  text.replace(row, text.find('\n', row) - row, "100,oops");
  const Outcome outcome = osler({"diagnose", folder_.write("run.csv", text)});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("loss-nonfinite-later"), HasSubstr("Damaged"), HasSubstr("oops")));
}

TEST_F(BadInputTest, AColumnOfWordsIsNoSeries) {
  const Outcome outcome =
      osler({"diagnose", folder_.write("words.csv", "name,comment\nanna,hello there\nben,good bye\n")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("words.csv"));
}

TEST_F(BadInputTest, TruncatedEventFileIsDiagnosedUpToItsEnd) {
  const std::string whole = event_file();
  const Outcome outcome =
      osler({"diagnose", folder_.write("events.out.tfevents.1.host", whole.substr(0, whole.size() - 11))});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("loss-nonfinite-later"));
}

TEST_F(BadInputTest, BitFlippedEventFileIsReadAroundTheDamage) {
  std::string bytes = event_file();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  const Outcome outcome = osler({"diagnose", folder_.write("events.out.tfevents.1.host", bytes), "--json"});
  EXPECT_NE(outcome.out, "") << outcome.err;
  EXPECT_EQ(schema_complaints(outcome.out, report_schema()), "");
  EXPECT_GT(nlohmann::json::parse(outcome.out)["damage"]["total"], 0);
}

TEST_F(BadInputTest, EventFilesCutAnywhereNeverCrash) {
  const std::string whole = event_file().substr(0, 600);
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    const Outcome outcome = osler({"diagnose", folder_.write("events.out.tfevents.1.host", whole.substr(0, length))});
    EXPECT_LE(outcome.exit_code, 2) << length << outcome.err;
    EXPECT_GE(outcome.exit_code, 0);
  }
}

TEST_F(BadInputTest, AFileOfNansIsCalledWhatItIs) {
  const std::string text = csv(200, {{"loss", [](int) { return std::nan(""); }}});
  const Outcome outcome = osler({"diagnose", folder_.write("nan.csv", text)});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("loss-nonfinite-at-start"));
}

TEST_F(BadInputTest, AFileOfFourGigabytesOfHolesIsRefusedInLittleMemory) {
  folder_.write("holes.csv", "step,loss\n0,1.5\n1,1.4\n");
  ASSERT_EQ(::truncate((folder_.path() / "holes.csv").c_str(), off_t{4} << 30), 0);
  folder_.write("zeros.log", "");
  ASSERT_EQ(::truncate((folder_.path() / "zeros.log").c_str(), off_t{4} << 30), 0);
  for (const char* name : {"holes.csv", "zeros.log"}) {
    const Outcome outcome = osler({"diagnose", name});
    EXPECT_EQ(outcome.exit_code, 2) << name << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(name));
    // A sanitizer keeps what was freed, up to a quarter of a gigabyte, which is still a sixteenth of the file.
    EXPECT_LT(outcome.peak_kilobytes, 400'000) << name;
  }
}

TEST_F(BadInputTest, APipeThatClosesEarlyIsDiagnosedAsFarAsItWent) {
  const std::string path = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = nan_csv();
  std::thread writer([&path, &text] {
    const int descriptor = ::open(path.c_str(), O_WRONLY);
    // In the middle of a line.
    EXPECT_GT(::write(descriptor, text.data(), text.size() - 3), 0);
    ::close(descriptor);
  });
  const Outcome outcome = osler({"diagnose", "pipe"});
  writer.join();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("loss-nonfinite-later"));
}

TEST_F(BadInputTest, APipeThatClosesAtOnceIsRefused) {
  const std::string path = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&path] { ::close(::open(path.c_str(), O_WRONLY)); });
  const Outcome outcome = osler({"diagnose", "pipe"});
  writer.join();
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, StartsWith("osler: "));
}

TEST_F(BadInputTest, APathWithoutPermissionSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  folder_.write("secret.csv", healthy_csv());
  ASSERT_EQ(::chmod((folder_.path() / "secret.csv").c_str(), 0), 0);
  expect_refusal("secret.csv");
}

TEST_F(BadInputTest, OneRowIsTooLittleAndSaysSo) {
  const Outcome outcome = osler({"diagnose", folder_.write("short.csv", "step,loss\n0,2.3\n"), "--json"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, AllOf(StartsWith("osler: short.csv: cannot judge: ")));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["status"], "insufficient-data");
}

TEST_F(BadInputTest, OneBadFileDoesNotHideTheOthers) {
  folder_.write("good.csv", healthy_csv());
  folder_.write("empty.csv", "");
  const Outcome outcome = osler({"diagnose", "good.csv", "empty.csv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("HEALTHY"));
  EXPECT_THAT(outcome.err, HasSubstr("empty.csv"));
}

TEST_F(BadInputTest, NamesInALogCannotSteerTheTerminal) {
  std::string text = nan_csv();
  text.replace(text.find("train/loss"), 10, "train_loss\x1b[31m\x1b]0;gotcha\x07");
  const Outcome outcome = osler({"diagnose", folder_.write("run\x1b[2J.csv", text), "--verbose"});
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace osler::tests
