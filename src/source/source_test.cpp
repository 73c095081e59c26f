// Paths, patterns, pipes and run files become runs.
#include "osler/source/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "osler/runfile/writer.h"
#include "osler/source/notes.h"

namespace osler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SourceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "osler-source-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* run : {"a", "b"}) write(std::string(run) + ".csv", "step,loss\n0,1.0\n1,0.9\n2,0.8\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void write_run_file(const std::string& name) {
    auto writer = RunFileWriter::open(path(name));
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    for (int step = 0; step < 10; ++step) writer->add(Event{loss, step, kNoTime, 1.0 / (step + 1)});
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] static Sources found(const std::vector<std::string>& paths) {
    return find_sources(real_file_system(), paths);
  }

  std::filesystem::path folder_;
};

TEST_F(SourceTest, APatternThatTheShellDidNotExpandIsExpanded) {
  EXPECT_THAT(*expand(real_file_system(), path("*.csv")), ElementsAre(path("a.csv"), path("b.csv")));
  EXPECT_EQ(found({path("?.csv")}).runs.size(), 2u);
}

TEST_F(SourceTest, AFileWhoseNameLooksLikeAPatternIsTakenAsItIs) {
  write("x[1].csv", "step,loss\n0,1.0\n1,0.9\n");
  EXPECT_THAT(*expand(real_file_system(), path("x[1].csv")), ElementsAre(path("x[1].csv")));
}

TEST_F(SourceTest, APatternWithoutMatchIsAnErrorThatNamesIt) {
  const Sources sources = found({path("*.jsonl")});
  ASSERT_EQ(sources.failures.size(), 1u);
  EXPECT_THAT(describe(sources.failures[0]), AllOf(HasSubstr("*.jsonl"), HasSubstr("no file matches")));
}

TEST_F(SourceTest, AMissingFileDoesNotHideTheOthers) {
  const Sources sources = found({path("gone.csv"), path("a.csv")});
  EXPECT_EQ(sources.failures.size(), 1u);
  EXPECT_EQ(sources.runs.size(), 1u);
}

TEST_F(SourceTest, RunFilesAreRecognisedAloneAndAmongOtherLogs) {
  std::filesystem::create_directory(folder_ / "kept");
  for (const char* name : {"kept/run.osler", "renamed.db"}) write_run_file(name);
  const Sources sources = found({path("renamed.db"), path("kept"), folder_.string(), path("kept/run.osler")});
  EXPECT_TRUE(sources.failures.empty());
  std::vector<std::string> run_files;
  std::size_t others = 0;
  for (const Source& source : sources.runs) {
    if (source.run_file.empty()) {
      ++others;
    } else {
      run_files.push_back(source.run_file);
    }
  }
  EXPECT_THAT(run_files, ElementsAre(path("renamed.db"), path("kept/run.osler")));
  EXPECT_EQ(others, 2u);
}

TEST_F(SourceTest, ARunNamedTwiceIsFoundOnce) {
  EXPECT_EQ(found({path("a.csv"), folder_.string() + "/./a.csv", "-", "-"}).runs.size(), 2u);
}

TEST_F(SourceTest, APipeIsLeftUnreadUntilItsTurn) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Sources sources = found({path("pipe")});  // would wait for ever if it were opened
  ASSERT_EQ(sources.runs.size(), 1u);
  EXPECT_EQ(sources.runs[0].stream, path("pipe"));
}

TEST_F(SourceTest, ReadOpensALogARunFileAFolderAPatternAndAPipe) {
  std::filesystem::create_directory(folder_ / "kept");
  write_run_file("kept/run.osler");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::jthread writer([this] { write("pipe", "step,loss\n0,1.0\n1,0.9\n2,0.8\n"); });
  for (const char* name : {"a.csv", "kept/run.osler", "kept", "[a].csv", "pipe"}) {
    const auto run = osler::read(path(name));
    ASSERT_TRUE(run) << name << ": " << describe(run.error());
    EXPECT_NE(run->find("loss"), nullptr) << name;
  }
}

TEST_F(SourceTest, ReadNamesTheRunsWhereThereAreSeveral) {
  const auto run = osler::read(folder_.string());
  ASSERT_FALSE(run);
  EXPECT_THAT(describe(run.error()), AllOf(HasSubstr("2 runs there, name one"), HasSubstr("a.csv")));
}

TEST_F(SourceTest, ReadSaysWhatIsMissing) {
  const auto run = osler::read(path("gone.csv"));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::not_found);
  EXPECT_THAT(describe(run.error()), HasSubstr("gone.csv"));
}

TEST_F(SourceTest, ANoteIsKeptBesideALogAndReadWithIt) {
  const Sources sources = found({path("a.csv")});
  const auto kept = add_note(sources.runs.front(), Mark{Mark::Kind::note, 1, kNoTime, "doubled the batch"});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->string(), path("a.csv.notes.jsonl"));
  const auto run = read(path("a.csv"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->marks().size(), 1u);
  EXPECT_EQ(run->marks().front().step, 1);
  EXPECT_EQ(run->marks().front().text, "doubled the batch");
  EXPECT_EQ(found({folder_.string()}).runs.size(), 2u) << "the notes are no run of their own";
  EXPECT_EQ(found({path("*")}).runs.size(), 2u);
}

TEST_F(SourceTest, ANoteThatWasCutOffDoesNotTakeTheNextOneAlong) {
  std::ofstream(path("a.csv.notes.jsonl")) << R"({"step":1,"te)";
  ASSERT_TRUE(add_note(found({path("a.csv")}).runs.front(), Mark{Mark::Kind::note, 2, kNoTime, "halved the rate"}));
  const auto run = read(path("a.csv"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->marks().size(), 1u);
  EXPECT_EQ(run->marks().front().text, "halved the rate");
  EXPECT_EQ(run->damage.items().size(), 1u) << "the other is told as damage";
}

TEST_F(SourceTest, ARunFileTakesItsNoteItselfAndLosesNothing) {
  write_run_file("c.osler");
  const Sources sources = found({path("c.osler")});
  const auto kept = add_note(sources.runs.front(), Mark{Mark::Kind::note, 4, kNoTime, "new data"});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->string(), path("c.osler"));
  const auto run = read(path("c.osler"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->marks().size(), 1u);
  EXPECT_EQ(run->marks().front().text, "new data");
  EXPECT_EQ(run->steps().count, 10u);
}

TEST_F(SourceTest, ARunFileThatMayBeBeingWrittenHasItsNoteBesideIt) {
  auto writer = RunFileWriter::open(path("live.osler"));
  ASSERT_TRUE(writer);
  const SeriesId loss = writer->series("loss");
  writer->add(Event{loss, 0, kNoTime, 1.0});
  ASSERT_TRUE(writer->commit());
  const Sources sources = found({path("live.osler")});
  const auto kept = add_note(sources.runs.front(), Mark{Mark::Kind::note, 0, kNoTime, "looks odd"});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->string(), path("live.osler.notes.jsonl"));
  writer->add(Event{loss, 1, kNoTime, 0.5});
  EXPECT_TRUE(writer->close()) << "the writer must not notice";
  const auto run = read(path("live.osler"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->steps().count, 2u);
  EXPECT_EQ(run->marks().size(), 1u);
}

TEST_F(SourceTest, ALineThatIsNoNoteIsDamageAndSpoilsNothing) {
  write("a.csv.notes.jsonl", "{\"step\": 2, \"text\": \"fine\"}\nscribble\n{\"step\": \"x\"}\n\n");
  const auto run = read(path("a.csv"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->marks().size(), 1u);
  EXPECT_EQ(run->damage.total(), 2u);
  EXPECT_EQ(run->damage.items().front().line, 2u);
}

}  // namespace
}  // namespace osler
