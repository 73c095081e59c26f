// Following logs as training programs really write them: they grow, rotate, are rewritten, and come late.
#include "osler/formats/follow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>

#include "event_file_writer.h"

namespace osler {
namespace {

namespace fs = std::filesystem;
using testing::EventFileWriter;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Following : public ::testing::Test {
 protected:
  Following() {
    std::string name = (fs::temp_directory_path() / "osler-follow-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~Following() override { fs::remove_all(folder); }

  fs::path write(const fs::path& name, std::string_view text, std::ios::openmode mode = std::ios::trunc) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary | mode) << text;
    return folder / name;
  }
  fs::path append(const fs::path& name, std::string_view text) { return write(name, text, std::ios::app); }

  static std::uint64_t points(const osler::Run& run, const char* series = "loss") {
    const Series* found = run.find(series);
    return found == nullptr ? 0 : found->summary().points();
  }
  static std::int64_t last_step(const osler::Run& run) { return run.find("loss")->summary().last_step(); }

  fs::path folder;
};

TEST_F(Following, AGrowingTableIsReadLineByLine) {
  Follower follower(real_file_system(), write("metrics.csv", "step,loss\n1,3\n2,2\n3,"));
  ASSERT_TRUE(follower.search());
  EXPECT_TRUE(follower.read_new());
  ASSERT_THAT(follower.runs(), SizeIs(1));
  const osler::Run& run = follower.runs()[0].run();
  EXPECT_EQ(points(run), 2) << "the third line is not complete";
  EXPECT_FALSE(follower.read_new());
  append("metrics.csv", "1\n4,0.5\n");
  EXPECT_TRUE(follower.read_new());
  EXPECT_EQ(points(run), 4);
  append("metrics.csv", "5,0.4");
  EXPECT_TRUE(follower.read_new());
  follower.finish();
  EXPECT_EQ(last_step(run), 5) << "the last line needs no line end";
}

TEST_F(Following, EachRunOfADatabaseIsFollowedByItself) {
  const fs::path path = folder / "mlflow.db";
  fs::copy_file(fs::path(OSLER_SOURCE_DIR) / "tests/samples/mlflow-db/mlflow.db", path);
  Follower follower(real_file_system(), path);
  ASSERT_TRUE(follower.search());
  EXPECT_TRUE(follower.read_new());
  ASSERT_THAT(follower.runs(), SizeIs(2));
  EXPECT_EQ(points(follower.runs()[0].run(), "val/accuracy"), 12);
  EXPECT_EQ(points(follower.runs()[1].run()), 12);
  EXPECT_FALSE(follower.read_new());

  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const char* sql = "INSERT INTO metrics VALUES ('loss', 0.5, 1700000100000, 'aaaa', 12, 0)";
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  ASSERT_TRUE(follower.search());
  EXPECT_TRUE(follower.read_new());
  ASSERT_THAT(follower.runs(), SizeIs(2));
  EXPECT_EQ(last_step(follower.runs()[0].run()), 12);
  EXPECT_EQ(last_step(follower.runs()[1].run()), 11);
}

TEST_F(Following, ALogMayComeLater) {
  Follower follower(real_file_system(), folder / "later.csv");
  const auto found = follower.search();
  ASSERT_FALSE(found);
  EXPECT_THAT(describe(found.error()), HasSubstr("later.csv"));
  EXPECT_FALSE(follower.read_new());
  write("later.csv", "step,loss\n1,3\n2,2\n3,1\n");
  ASSERT_TRUE(follower.search());
  EXPECT_TRUE(follower.read_new());
  EXPECT_EQ(points(follower.runs()[0].run()), 3);
}

TEST_F(Following, ARotatedLogGoesOnInItsSuccessor) {
  Follower follower(real_file_system(), write("train.log", "step 1 loss 3.0\nstep 2 loss 2.9\nstep 3 loss 2.8\n"));
  ASSERT_TRUE(follower.search());
  follower.read_new();
  append("train.log", "step 4 loss 2.7\n");
  fs::rename(folder / "train.log", folder / "train.log.1");
  write("train.log", "step 5 loss 2.6\nstep 6 loss 2.5\n");
  EXPECT_TRUE(follower.read_new());
  const osler::Run& run = follower.runs()[0].run();
  EXPECT_EQ(points(run), 6) << "the line written before the rotation counts too";
  EXPECT_THAT(run.marks(), IsEmpty()) << "a rotation is no restart of the training";
}

TEST_F(Following, ATableRewrittenWithANewColumnIsReadAnew) {
  Follower follower(real_file_system(), write("metrics.csv", "step,loss\n1,3\n2,2\n3,1\n"));
  ASSERT_TRUE(follower.search());
  follower.read_new();
  write("metrics.csv", "step,loss,val_loss\n1,3,\n2,2,\n3,1,1.5\n4,0.5,\n");
  EXPECT_TRUE(follower.read_new());
  const osler::Run& run = follower.runs()[0].run();
  EXPECT_EQ(points(run), 4);
  EXPECT_EQ(points(run, "val_loss"), 1);
  EXPECT_THAT(run.marks(), IsEmpty());
}

TEST_F(Following, ADocumentWrittenAnewEachEpochIsReadAnew) {
  Follower follower(real_file_system(), write("history.json", R"([{"step":1,"loss":3},{"step":2,"loss":2}])"));
  ASSERT_TRUE(follower.search());
  follower.read_new();
  EXPECT_EQ(points(follower.runs()[0].run()), 2);
  write("history.json", R"([{"step":1,"loss":3},{"step":2,"loss":2},{"step":3,"loss":1}])");
  EXPECT_TRUE(follower.read_new());
  EXPECT_EQ(points(follower.runs()[0].run()), 3);
  EXPECT_THAT(follower.runs()[0].run().marks(), IsEmpty());
}

TEST_F(Following, AFileCaughtWhileItIsRewrittenKeepsWhatWasSeen) {
  Follower follower(real_file_system(), write("metrics.csv", "step,loss\n1,3\n2,2\n3,1\n"));
  ASSERT_TRUE(follower.search());
  follower.read_new();
  write("metrics.csv", "step,l");
  EXPECT_FALSE(follower.read_new());
  EXPECT_EQ(points(follower.runs()[0].run()), 3) << "the writer has only just begun";
  write("metrics.csv", "step,loss\n1,3\n2,2\n3,1\n4,0.9\n");
  EXPECT_TRUE(follower.read_new());
  EXPECT_EQ(points(follower.runs()[0].run()), 4);
}

TEST_F(Following, NewEventFilesInAFolderContinueTheRunOrBeginAnother) {
  EventFileWriter first;
  for (int step = 1; step <= 3; ++step) first.scalar("loss", step, 3.0F / static_cast<float>(step));
  write("runs/a/events.out.tfevents.100.host", first.bytes());
  Follower follower(real_file_system(), folder / "runs");
  ASSERT_TRUE(follower.search());
  follower.read_new();
  ASSERT_THAT(follower.runs(), SizeIs(1));
  EventFileWriter second;
  for (int step = 4; step <= 8; ++step) second.scalar("loss", step, 3.0F / static_cast<float>(step));
  write("runs/a/events.out.tfevents.200.host", second.bytes());
  write("runs/b/events.out.tfevents.100.host", first.bytes());
  ASSERT_TRUE(follower.search());
  EXPECT_TRUE(follower.read_new());
  ASSERT_THAT(follower.runs(), SizeIs(2));
  EXPECT_EQ(points(follower.runs()[0].run()), 8);
  EXPECT_EQ(points(follower.runs()[1].run()), 3);
}

TEST_F(Following, AnEventFileCutInTheMiddleOfARecordIsNotDamaged) {
  EventFileWriter writer;
  for (int step = 1; step <= 50; ++step) writer.scalar("loss", step, 3.0F / static_cast<float>(step));
  const std::string bytes = writer.bytes();
  write("events.out.tfevents.100.host", bytes.substr(0, 200));
  Follower follower(real_file_system(), folder);
  ASSERT_TRUE(follower.search());
  follower.read_new();
  for (std::size_t at = 200; at < bytes.size(); at += 77) {
    append("events.out.tfevents.100.host", bytes.substr(at, 77));
    follower.read_new();
  }
  follower.finish();
  EXPECT_EQ(points(follower.runs()[0].run()), 50);
  EXPECT_TRUE(follower.runs()[0].run().damage.empty());
}

TEST_F(Following, APipeIsJudgedByMoreThanItsFirstPiece) {
  auto stream = FollowedStream::open("-");
  ASSERT_TRUE(stream);
  const auto feed = [&](std::string_view text) { return stream->feed(std::as_bytes(std::span(text))); };
  ASSERT_TRUE(feed("Loading data ...\n"));
  ASSERT_TRUE(feed("using 8 workers\nepoch 1 "));
  for (int step = 2; step <= 20; ++step) {
    ASSERT_TRUE(feed("loss " + std::to_string(3.0 / step) + "\nepoch " + std::to_string(step) + " "));
  }
  ASSERT_TRUE(feed("loss 0.1\n"));
  ASSERT_TRUE(stream->finish());
  EXPECT_EQ(points(stream->run()), 20);
}

TEST_F(Following, APipeWithoutNumbersSaysSo) {
  auto stream = FollowedStream::open("-");
  ASSERT_TRUE(stream);
  const std::string_view text = "Traceback (most recent call last):\n";
  ASSERT_TRUE(stream->feed(std::as_bytes(std::span(text))));
  EXPECT_FALSE(stream->finish());
  ReadOptions unknown;
  unknown.format = "no-such-format";
  EXPECT_FALSE(FollowedStream::open("-", unknown));
}

}  // namespace
}  // namespace osler
