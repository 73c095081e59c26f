// Writers that are killed, run out of space or fail to write: what was committed is there, and nothing else.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <random>
#include <thread>

#include "run_file_samples.h"
#include "runfile/faulty_vfs.h"

namespace osler {
namespace {

using testing::faulty_vfs;
using testing::Points;
using testing::read_all;
using testing::same;
using testing::TestFolder;
using testing::vfs_faults;
using testing::VfsFaults;

/// What a series has at a step, so that a reader can check it without a record of its own.
double value_at(std::size_t series, std::int64_t step) {
  std::mt19937_64 random(static_cast<std::uint64_t>(step) * 31 + series);
  return random() % 501 == 0 ? std::nan("") : static_cast<double>(random() >> 11) * 0x1p-53;
}

constexpr std::size_t kSeries = 3;

/// Appends steps from `first` on until something ends it; tells `committed` how far the file holds them.
void write_forever(const std::filesystem::path& path, std::int64_t first, std::atomic<std::int64_t>& committed) {
  RunFileOptions options;
  options.most_unpacked = 3000;
  auto writer = RunFileWriter::open(path, options);
  if (!writer) ::_exit(2);
  for (std::int64_t step = first;;) {
    for (int i = 0; i < 200; ++i, ++step) {
      for (std::size_t s = 0; s < kSeries; ++s) {
        const SeriesId series = writer->series("series" + std::to_string(s));
        writer->add(Event{series, step, 1.7e9 + static_cast<double>(step), value_at(s, step)});
      }
    }
    if (!writer->commit()) ::_exit(3);
    committed = step;
  }
}

/// Every series must hold the steps from 0 on without a gap; returns how many.
std::int64_t check_file(const std::filesystem::path& path) {
  DamageReport damage;
  const auto found = read_all(path, &damage);
  EXPECT_TRUE(damage.empty());
  std::int64_t shortest = found.size() < kSeries ? 0 : INT64_MAX;
  for (const auto& [name, points] : found) {
    const auto series = static_cast<std::size_t>(name.back() - '0');
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].step, static_cast<std::int64_t>(i));
      EXPECT_TRUE(same(points[i].value, value_at(series, points[i].step)));
      if (::testing::Test::HasFailure()) return 0;
    }
    shortest = std::min(shortest, static_cast<std::int64_t>(points.size()));
  }
  return shortest;
}

TEST(RunFileCrash, LosesNothingCommittedWhenItsWriterIsKilledTwoHundredTimes) {
  const TestFolder folder;
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* committed = new (shared) std::atomic<std::int64_t>(0);
  std::mt19937_64 random(2026);
  constexpr int kFiles = 20;
  constexpr int kKills = 10;  // of writers that append to one file, one after another
  for (int file = 0; file < kFiles; ++file) {
    const auto path = folder / (std::to_string(file) + ".osler");
    std::int64_t steps = 0;
    for (int kill = 0; kill < kKills; ++kill) {
      *committed = steps;
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) write_forever(path, steps, *committed);
      // Let the first commit come, so that the file is a run file, then kill at any point of the work.
      bool alive = true;
      while (*committed == steps && alive) {
        std::this_thread::yield();
        alive = ::waitpid(child, nullptr, WNOHANG) == 0;
      }
      ASSERT_TRUE(alive) << "the writer ended by itself";
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      const std::int64_t safe = *committed;
      steps = check_file(path);
      ASSERT_FALSE(HasFailure()) << "file " << file << " after kill " << kill;
      ASSERT_GE(steps, safe);
    }
    std::filesystem::remove(path);
  }
  ::munmap(shared, 4096);
}

TEST(RunFileCrash, AFileWhoseVeryCreationIsKilledIsNoTrap) {
  const TestFolder folder;
  std::mt19937_64 random(7);
  for (int i = 0; i < 30; ++i) {
    const auto path = folder / (std::to_string(i) + ".osler");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::atomic<std::int64_t> ignored = 0;
      write_forever(path, 0, ignored);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto writer = RunFileWriter::open(path);  // whatever is there, recording can go on in it
    ASSERT_TRUE(writer) << describe(writer.error());
  }
}

class FaultyRunFile : public ::testing::Test {
 protected:
  void TearDown() override { vfs_faults() = {}; }

  static RunFileWriter open(const std::filesystem::path& path, std::size_t most_unsaved = 4'000'000) {
    RunFileOptions options;
    options.vfs = faulty_vfs();
    options.most_unpacked = 1000;
    options.most_unsaved = most_unsaved;
    auto writer = RunFileWriter::open(path, options);
    EXPECT_TRUE(writer);
    return std::move(*writer);
  }
  static void add(RunFileWriter& writer, std::int64_t first, std::int64_t end) {
    for (std::int64_t step = first; step < end; ++step) {
      for (std::size_t s = 0; s < kSeries; ++s) {
        const SeriesId series = writer.series("series" + std::to_string(s));
        writer.add(Event{series, step, 1.7e9 + static_cast<double>(step), value_at(s, step)});
      }
    }
  }
};

TEST_F(FaultyRunFile, LosesNothingWhenTheDiskIsFullForAWhile) {
  const TestFolder folder;
  for (const std::int64_t good_writes : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55}) {
    for (const int failure : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
      const auto path = folder / (std::to_string(good_writes) + "-" + std::to_string(failure) + ".osler");
      RunFileWriter writer = open(path);
      add(writer, 0, 500);
      ASSERT_TRUE(writer.commit());
      vfs_faults() = {good_writes, failure, false, true};
      std::int64_t step = 500;
      bool failed = false;
      for (int i = 0; i < 8; ++i, step += 500) {
        add(writer, step, step + 500);
        const auto committed = writer.commit();
        if (!committed) {
          EXPECT_EQ(committed.error().code, ErrorCode::io) << describe(committed.error());
        }
        failed = failed || !committed;
      }
      EXPECT_TRUE(failed) << good_writes;
      EXPECT_GE(check_file(path), 500);  // readable while the disk is full
      vfs_faults() = {};
      add(writer, step, step + 500);
      const auto healed = writer.commit();
      ASSERT_TRUE(healed) << describe(healed.error());
      ASSERT_TRUE(writer.close());
      EXPECT_EQ(check_file(path), step + 500);
    }
  }
}

TEST_F(FaultyRunFile, SurvivesSyncsThatFail) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter writer = open(path);
  add(writer, 0, 500);
  ASSERT_TRUE(writer.commit());
  vfs_faults().fail_syncs = true;
  for (std::int64_t step = 500; step < 20'000; step += 500) {
    add(writer, step, step + 500);
    static_cast<void>(writer.commit());
  }
  EXPECT_GE(check_file(path), 500);
  vfs_faults() = {};
  ASSERT_TRUE(writer.commit());
  ASSERT_TRUE(writer.close());
  EXPECT_EQ(check_file(path), 20'000);
}

TEST_F(FaultyRunFile, GivesUpTheOldestWhenNothingCanBeWrittenForLongAndSaysSo) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  RunFileWriter writer = open(path, 20'000);
  add(writer, 0, 500);
  ASSERT_TRUE(writer.commit());
  vfs_faults().writes_left = 0;
  for (std::int64_t step = 500; step < 60'000; step += 500) {
    add(writer, step, step + 500);
    EXPECT_FALSE(writer.commit());
  }
  vfs_faults() = {};
  ASSERT_TRUE(writer.close());
  DamageReport damage;
  const auto found = read_all(path, &damage);
  EXPECT_FALSE(damage.empty()) << "the reader says which points are missing";
  for (const auto& [name, points] : found) {
    EXPECT_LT(points.size(), 60'000U);
    EXPECT_EQ(points.back().step, 59'999);
    for (const Point& point : points) {
      ASSERT_TRUE(same(point.value, value_at(static_cast<std::size_t>(name.back() - '0'), point.step)));
    }
  }
  auto reader = RunFileReader::open(path);
  const auto marks = *reader->marks();
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_NE(marks[0].text.find("values were given up"), std::string::npos);
}

}  // namespace
}  // namespace osler
