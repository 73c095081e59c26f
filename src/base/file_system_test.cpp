// The real file system against the operating system, and the faulty one against its plan.
#include "osler/base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "base/faulty_file_system.h"

namespace osler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// A fresh folder for one test, removed with it.
class FileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "osler-files-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return folder_ / name; }

  void write(std::string_view name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  [[nodiscard]] std::string text_of(std::string_view name) {
    const auto text = read_whole(real_, path(name), 1 << 20);
    return text ? *text : "error: " + describe(text.error());
  }

  FileSystem& real_ = real_file_system();
  std::filesystem::path folder_;
};

/// Everything a file gives until it says "the end for now", or the error that stopped it.
Result<std::string> drain(ReadableFile& file, std::size_t chunk = 7) {
  std::string text;
  std::string buffer(chunk, '\0');
  for (;;) {
    const auto length = file.read(std::as_writable_bytes(std::span(buffer)));
    if (!length) return length.error();
    if (*length == 0) return text;
    text.append(buffer, 0, *length);
  }
}

TEST_F(FileSystemTest, WhatIsWrittenIsReadBack) {
  auto file = real_.open_write(path("log.csv"), WriteMode::truncate);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->append(bytes_of("step,loss\n")));
  ASSERT_TRUE((*file)->append(bytes_of("1,2.5\n")));
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ(text_of("log.csv"), "step,loss\n1,2.5\n");
}

TEST_F(FileSystemTest, TruncateStartsAnewAndAppendGoesOn) {
  write("log", "old");
  {
    auto file = real_.open_write(path("log"), WriteMode::append);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->append(bytes_of(" and new")));
  }
  EXPECT_EQ(text_of("log"), "old and new");
  {
    auto file = real_.open_write(path("log"), WriteMode::truncate);
    ASSERT_TRUE(file);
  }
  EXPECT_EQ(text_of("log"), "");
}

TEST_F(FileSystemTest, TheEndIsTheEndForNowOfAGrowingFile) {
  write("log", "first");
  auto file = real_.open_read(path("log"));
  ASSERT_TRUE(file);
  EXPECT_EQ(*drain(**file), "first");
  std::ofstream(path("log"), std::ios::app) << " second";
  EXPECT_EQ(*drain(**file), " second");
}

TEST_F(FileSystemTest, SeekMovesTheReadPosition) {
  write("log", "0123456789");
  auto file = real_.open_read(path("log"));
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->seek(6));
  EXPECT_EQ(*drain(**file), "6789");
}

TEST_F(FileSystemTest, InfoTellsKindsAndSizes) {
  write("log", "12345");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto regular = real_.info(path("log"));
  ASSERT_TRUE(regular);
  EXPECT_EQ(regular->kind, FileKind::regular);
  EXPECT_EQ(regular->size_bytes, 5U);
  EXPECT_GT(regular->modified_seconds, 1.6e9);
  EXPECT_EQ(real_.info(folder_)->kind, FileKind::directory);
  EXPECT_EQ(real_.info(path("pipe"))->kind, FileKind::pipe);
}

TEST_F(FileSystemTest, AnOpenFileIsToldFromTheOneThatTookItsName) {
  write("log", "old");
  write("log.new", "replacement");
  auto file = real_.open_read(path("log"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(real_.rename(path("log.new"), path("log")));
  const auto opened = (*file)->info();
  const auto named = real_.info(path("log"));
  ASSERT_TRUE(opened);
  ASSERT_TRUE(named);
  EXPECT_NE(opened->inode, named->inode);
  EXPECT_EQ(*drain(**file), "old");
  EXPECT_EQ(text_of("log"), "replacement");
}

TEST_F(FileSystemTest, ListsNamesInOrder) {
  write("b", "");
  write("a", "");
  write(".hidden", "");
  ASSERT_TRUE(real_.make_directory(path("c/d")));
  ASSERT_TRUE(real_.make_directory(path("c/d")));
  const auto names = real_.list(folder_);
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre(".hidden", "a", "b", "c"));
}

TEST_F(FileSystemTest, RemoveMakesAFileGo) {
  write("log", "x");
  ASSERT_TRUE(real_.remove(path("log")));
  EXPECT_EQ(real_.info(path("log")).error().code, ErrorCode::not_found);
}

TEST_F(FileSystemTest, WhatIsNotThereIsNotFoundAndNamed) {
  const auto missing = path("missing.csv");
  for (const Error& error : {real_.open_read(missing).error(), real_.info(missing).error(), real_.list(missing).error(),
                             real_.remove(missing).error(), real_.rename(missing, path("x")).error()}) {
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_THAT(describe(error), HasSubstr("missing.csv: No such file"));
  }
}

TEST_F(FileSystemTest, APathThroughAFileIsNotFound) {
  write("log", "x");
  EXPECT_EQ(real_.open_read(path("log") / "inner").error().code, ErrorCode::not_found);
}

TEST_F(FileSystemTest, AFileWithoutPermissionIsRefused) {
  write("secret", "x");
  std::filesystem::permissions(path("secret"), std::filesystem::perms::none);
  constexpr uid_t kNobody = 65534;
  const uid_t self = ::geteuid();
  if (self == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);  // root may read everything
  }
  const auto file = real_.open_read(path("secret"));
  if (self == 0) {
    ASSERT_EQ(::seteuid(self), 0);
  }
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::io);
  EXPECT_THAT(describe(file.error()), HasSubstr("Permission denied"));
}

TEST_F(FileSystemTest, ReadingADirectoryIsAnError) {
  auto file = real_.open_read(folder_);
  if (!file) return;
  const auto text = drain(**file);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::io);
}

TEST_F(FileSystemTest, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([this] { std::ofstream(path("pipe")) << "through the pipe"; });
  auto file = real_.open_read(path("pipe"));
  EXPECT_TRUE(file);
  if (file) {
    EXPECT_EQ(*drain(**file), "through the pipe");
    EXPECT_FALSE((*file)->seek(0));
  }
  writer.join();
}

TEST_F(FileSystemTest, ReadWholeStopsAtItsLimit) {
  write("log", std::string(200'000, 'x'));
  EXPECT_EQ(read_whole(real_, path("log"), 200'000)->size(), 200'000U);
  const auto text = read_whole(real_, path("log"), 199'999);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::unsupported);
  EXPECT_THAT(describe(text.error()), HasSubstr("log: larger than 199999 bytes"));
}

/// The same file read through a plan of faults.
class FaultyFileSystemTest : public FileSystemTest {
 protected:
  Result<std::string> read_with(const FaultPlan& plan) {
    write("log", "0123456789abcdef");
    FaultyFileSystem faulty(real_, plan);
    return read_whole(faulty, path("log"), 1 << 20);
  }
};

TEST_F(FaultyFileSystemTest, WithoutAPlanChangesNothing) {
  EXPECT_EQ(*read_with({}), "0123456789abcdef");
}

TEST_F(FaultyFileSystemTest, ShortReadsGiveEverythingInTheEnd) {
  for (const std::size_t longest : {1U, 3U, 100U}) EXPECT_EQ(*read_with({.longest_read = longest}), "0123456789abcdef");
}

TEST_F(FaultyFileSystemTest, ACutFileEndsEarlyAndLooksShort) {
  EXPECT_EQ(*read_with({.cut_at = 10}), "0123456789");
  EXPECT_EQ(*read_with({.cut_at = 0}), "");
  FaultyFileSystem faulty(real_, {.cut_at = 10});
  EXPECT_EQ(faulty.info(path("log"))->size_bytes, 10U);
  EXPECT_EQ((*faulty.open_read(path("log")))->info()->size_bytes, 10U);
}

TEST_F(FaultyFileSystemTest, AFlippedBitIsFlippedHoweverTheFileIsRead) {
  for (const std::size_t longest : {1U, 4U, 100U}) {
    EXPECT_EQ(*read_with({.flip_bit_at = 4, .longest_read = longest}), "0123556789abcdef");
  }
}

TEST_F(FaultyFileSystemTest, AFlippedBitStaysAfterSeeking) {
  write("log", "0123456789");
  FaultyFileSystem faulty(real_, {.flip_bit_at = 4});
  auto file = faulty.open_read(path("log"));
  ASSERT_TRUE(file);
  EXPECT_EQ(*drain(**file), "0123556789");
  ASSERT_TRUE((*file)->seek(4));
  EXPECT_EQ(*drain(**file), "556789");
}

TEST_F(FaultyFileSystemTest, AReadFailsAtItsOffsetAndNotBefore) {
  write("log", "0123456789");
  FaultyFileSystem faulty(real_, {.fail_read_at = 6});
  auto file = faulty.open_read(path("log"));
  ASSERT_TRUE(file);
  std::string buffer(100, '\0');
  const auto before = (*file)->read(std::as_writable_bytes(std::span(buffer)));
  ASSERT_TRUE(before);
  EXPECT_EQ(*before, 6U);
  const auto after = (*file)->read(std::as_writable_bytes(std::span(buffer)));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, ErrorCode::io);
}

TEST_F(FaultyFileSystemTest, ADiskFillsUpOverAllFiles) {
  FaultyFileSystem faulty(real_, {.disk_space = 10});
  auto first = faulty.open_write(path("first"), WriteMode::truncate);
  auto second = faulty.open_write(path("second"), WriteMode::truncate);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE((*first)->append(bytes_of("123456")));
  const auto full = (*second)->append(bytes_of("abcdef"));
  ASSERT_FALSE(full);
  EXPECT_THAT(describe(full.error()), HasSubstr("no space"));
  EXPECT_EQ(text_of("first"), "123456");
  EXPECT_EQ(text_of("second"), "abcd");
}

TEST_F(FaultyFileSystemTest, SyncAndOpenFailWhenPlanned) {
  FaultyFileSystem unsynced(real_, {.fail_sync = true});
  auto file = unsynced.open_write(path("log"), WriteMode::truncate);
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->append(bytes_of("x")));
  EXPECT_FALSE((*file)->sync());

  FaultyFileSystem closed(real_, {.fail_open = true});
  EXPECT_EQ(closed.open_read(path("log")).error().code, ErrorCode::io);
  EXPECT_EQ(closed.open_write(path("log"), WriteMode::append).error().code, ErrorCode::io);
}

TEST_F(FaultyFileSystemTest, PassesTheRestThrough) {
  FaultyFileSystem faulty(real_, {});
  ASSERT_TRUE(faulty.make_directory(path("runs")));
  write("log", "x");
  ASSERT_TRUE(faulty.rename(path("log"), path("runs/log")));
  EXPECT_THAT(*faulty.list(path("runs")), ElementsAre("log"));
  ASSERT_TRUE(faulty.remove(path("runs/log")));
  EXPECT_THAT(*faulty.list(path("runs")), ElementsAre());
}

}  // namespace
}  // namespace osler
