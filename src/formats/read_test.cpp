// From paths to runs: what is found, what is read, and what is said when it cannot be.
#include "osler/formats/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/faulty_file_system.h"
#include "event_file_writer.h"
#include "recording_sink.h"

namespace osler {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::EventFileWriter;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RecordingSink;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kTable = "step,loss\n1,3\n2,2\n3,1\n";

std::string events() {
  EventFileWriter writer;
  for (int step = 1; step <= 3; ++step) writer.scalar("loss", step, static_cast<float>(4 - step));
  return writer.bytes();
}

class ReadTest : public ::testing::Test {
 protected:
  ReadTest() {
    std::string name = (fs::temp_directory_path() / "osler-read-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~ReadTest() override { fs::remove_all(folder); }

  fs::path write(const fs::path& name, std::string_view bytes) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }

  static std::vector<std::string> names(const std::vector<RunSource>& sources) {
    std::vector<std::string> found;
    for (const RunSource& source : sources) found.push_back(source.name);
    return found;
  }

  /// The error of finding or reading what is at `path`, as a person sees it.
  static std::string complaint(const fs::path& path, const ReadOptions& options = {}) {
    const auto found = discover(real_file_system(), path, options);
    if (!found) return describe(found.error());
    const auto run = read_run(real_file_system(), found->front(), options);
    return run ? "no complaint" : describe(run.error());
  }

  fs::path folder;
};

TEST_F(ReadTest, AFileIsARun) {
  const fs::path path = write("metrics.tsv", kTable);
  const auto found = discover(real_file_system(), path);
  ASSERT_TRUE(found);
  const auto run = read_run(real_file_system(), found->front());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->name, path.string());
  EXPECT_EQ(run->format, "csv");
  EXPECT_THAT(run->sources, ElementsAre(path.string()));
  EXPECT_EQ(run->find("loss")->summary().points(), 3U);
}

TEST_F(ReadTest, AFolderMayHoldManyRuns) {
  write("a/events.out.tfevents.1", events());
  write("b/c/events.out.tfevents.1", events());
  write("b/c/events.out.tfevents.2", events());
  write("d.csv", kTable);
  const auto found = discover(real_file_system(), folder);
  ASSERT_TRUE(found);
  EXPECT_THAT(names(*found), ElementsAre("a", "b/c", "d.csv"));
  EXPECT_THAT((*found)[1].files, SizeIs(2));
}

TEST_F(ReadTest, NamesAreAsShortAsTheyCanBeToldApart) {
  write("x/y/a/events.out.tfevents.1", events());
  write("x/y/b/events.out.tfevents.1", events());
  EXPECT_THAT(names(*discover(real_file_system(), folder)), ElementsAre("a", "b"));
  fs::remove_all(folder / "x/y/b");
  EXPECT_THAT(names(*discover(real_file_system(), folder.string() + "/")), ElementsAre("a"));
}

TEST_F(ReadTest, TrainingAndValidationFoldersAreOneRun) {
  write("exp/train/events.out.tfevents.1", events());
  write("exp/validation/events.out.tfevents.1", events());
  const auto found = discover(real_file_system(), folder);
  ASSERT_THAT(*found, SizeIs(1));
  const auto run = read_run(real_file_system(), found->front());
  EXPECT_NE(run->find("train/loss"), nullptr);
  EXPECT_NE(run->find("validation/loss"), nullptr);
}

TEST_F(ReadTest, LogsOfOneFolderInTwoFormatsAreTwoRuns) {
  write("metrics.csv", kTable);
  write("events.out.tfevents.1", events());
  EXPECT_THAT(names(*discover(real_file_system(), folder)), ElementsAre("metrics.csv", "events.out.tfevents.1"));
}

TEST_F(ReadTest, SideFilesOfACertainLogAreNoRuns) {
  write("metrics.csv", kTable);
  write("classes.csv", "1,2\n3,4\n");
  write("model.pt", "step,loss\n1,2\n");
  write(".git/metrics.csv", kTable);
  EXPECT_THAT(*discover(real_file_system(), folder), SizeIs(1));
}

constexpr const char* kPrinted = "epoch 1 loss 3.0\nepoch 2 loss 2.0\nepoch 3 loss 1.0\n";

std::vector<std::string> left_out(const Survey& survey) {
  std::vector<std::string> names;
  for (const LeftOut& left : survey.left_out) names.push_back(left.path.filename().string() + ": " + left.why);
  return names;
}

TEST_F(ReadTest, ALogOfAnotherNameBesideACertainOneIsARunOfItsOwn) {
  write("exp1.csv", kTable);
  write("exp2.log", kPrinted);
  const auto found = survey(real_file_system(), folder);
  ASSERT_TRUE(found);
  EXPECT_THAT(names(found->runs), UnorderedElementsAre("exp1.csv", "exp2.log"));
  EXPECT_THAT(found->left_out, IsEmpty());
  for (const RunSource& run : found->runs) EXPECT_EQ(run.doubtful, run.name == "exp2.log");
}

TEST_F(ReadTest, WhatIsTakenForTheSameRunOnceMoreIsSaid) {
  write("a/metrics.csv", kTable);
  write("a/train.log", kPrinted);
  write("a/slurm-4711.out", kPrinted);
  write("b/exp1.csv", kTable);
  write("b/exp1.log", kPrinted);
  write("b/exp2.csv", kTable);
  write("b/exp2.log", kPrinted);
  write("b/output.log", kPrinted);  // of which of the two?
  const auto found = survey(real_file_system(), folder);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->runs, SizeIs(4));
  EXPECT_THAT(left_out(*found), UnorderedElementsAre("train.log: taken for the output of the run in metrics.csv",
                                                     "slurm-4711.out: taken for the output of the run in metrics.csv",
                                                     "exp1.log: taken for another form of exp1.csv",
                                                     "exp2.log: taken for another form of exp2.csv"));
}

TEST_F(ReadTest, ADocumentBesideALogIsARunOnlyWhenItHoldsCurves) {
  write("losses.csv", kTable);
  write("config.json", R"({"layers": [64, 64], "lr": 0.1, "loss": "mse"})");
  write("history.json", R"({"loss": [1.5, 1.2, 1.0, 0.9], "val_loss": [1.6, 1.4, 1.3, 1.2]})");
  EXPECT_THAT(names(*discover(real_file_system(), folder)), UnorderedElementsAre("losses.csv", "history.json"));
}

TEST_F(ReadTest, LinksAreFollowedOutOfTheFolderWhereThatIsWanted) {
  write("scratch/exp/metrics.csv", kTable);
  write("scratch/other.csv", kTable);
  write("inside/own.csv", kTable);
  fs::create_directory_symlink(folder / "scratch/exp", folder / "inside/latest");
  fs::create_symlink(folder / "scratch/other.csv", folder / "inside/other.csv");
  fs::create_symlink("own.csv", folder / "inside/a-newest.csv");
  fs::create_directory_symlink(folder, folder / "inside/around");
  fs::create_symlink("gone.csv", folder / "inside/gone-link.csv");
  ReadOptions options;
  options.follow_links_out = true;
  const auto followed = survey(real_file_system(), folder / "inside", options);
  ASSERT_TRUE(followed);
  EXPECT_THAT(names(followed->runs), UnorderedElementsAre("latest", "other.csv", "own.csv"))
      << "each file once, by its own name";
  EXPECT_THAT(left_out(*followed), UnorderedElementsAre("around: a link to a folder around this one",
                                                        "gone-link.csv: a link that leads nowhere"));
  const auto kept_in = survey(real_file_system(), folder / "inside");
  EXPECT_THAT(names(kept_in->runs), ElementsAre("own.csv"));
  EXPECT_THAT(left_out(*kept_in), ::testing::Contains("latest: a link that leads out of the folder"));
}

TEST_F(ReadTest, WhereThereAreOnlyLinksThatIsSaid) {
  write("scratch/metrics.csv", kTable);
  fs::create_directories(folder / "inside");
  fs::create_directory_symlink(folder / "scratch", folder / "inside/latest");
  const auto found = discover(real_file_system(), folder / "inside");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("a link that leads out of the folder"));
}

TEST_F(ReadTest, ConfigurationIsFoundBesideALogThatIsNamedAlone) {
  const fs::path path = write("version_0/metrics.csv", kTable);
  write("version_0/hparams.yaml", "lr: 0.1\n");
  const auto found = discover(real_file_system(), path);
  ASSERT_TRUE(found);
  const auto run = read_run(real_file_system(), found->front());
  EXPECT_EQ(run->configuration().at("lr"), "0.1");
  EXPECT_EQ(run->format, "lightning-csv");
}

TEST_F(ReadTest, OnlyTheNewestCheckpointOfATrainerCounts) {
  const std::string row = R"({"step": 1, "loss": 3})";
  write("checkpoint-1/trainer_state.json", R"({"global_step": 1, "log_history": [)" + row + "]}");
  write("checkpoint-2/trainer_state.json",
        R"({"global_step": 2, "log_history": [)" + row + R"(, {"step": 2, "loss": 2}]})");
  const auto found = discover(real_file_system(), folder);
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_THAT(found->front().files, SizeIs(1));
  EXPECT_EQ(found->front().files[0].path, folder / "checkpoint-2/trainer_state.json");
}

TEST_F(ReadTest, LinksThatLeadOutAreNotFollowed) {
  const fs::path outside = write("outside/metrics.csv", kTable);
  write("inside/log.csv", kTable);
  fs::create_directory_symlink(folder / "outside", folder / "inside/link");
  fs::create_directory_symlink(folder / "inside", folder / "inside/circle");
  EXPECT_THAT(*discover(real_file_system(), folder / "inside"), SizeIs(1));
}

TEST_F(ReadTest, AWandbFolderIsOneRunToldByItsBestFile) {
  const std::string output = "epoch 1 loss 3.0\nepoch 2 loss 2.0\nepoch 3 loss 1.0\n";
  const std::string history = "{\"_step\": 0, \"loss\": 3}\n{\"_step\": 1, \"loss\": 2}\n";
  write("wandb/run-1-a/files/config.yaml", "_wandb:\n  value: 1\nlr:\n  value: 0.1\nmodel:\n  value:\n    depth: 4\n");
  write("wandb/run-1-a/files/output.log", output);
  const auto from_output = discover(real_file_system(), folder);
  ASSERT_TRUE(from_output);
  ASSERT_THAT(*from_output, SizeIs(1));
  const auto run = read_run(real_file_system(), from_output->front());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->format, "wandb-output");
  EXPECT_EQ(run->find("loss")->summary().points(), 3U);
  EXPECT_EQ(run->configuration().at("lr"), "0.1");
  EXPECT_EQ(run->configuration().at("model/depth"), "4");

  write("wandb/run-1-a/files/wandb-history.jsonl", history);
  const auto from_history = discover(real_file_system(), folder);
  ASSERT_THAT(*from_history, SizeIs(1));
  EXPECT_EQ(read_run(real_file_system(), from_history->front())->format, "wandb-history");
  // Named by itself, each file is read.
  const auto named = discover(real_file_system(), folder / "wandb/run-1-a/files/output.log");
  EXPECT_EQ(read_run(real_file_system(), named->front())->configuration().at("lr"), "0.1");
}

TEST_F(ReadTest, AnAnnouncedRestartTakesBackWhatCameAfterIt) {
  EventFileWriter first;
  for (int step = 0; step < 20; ++step) {
    first.scalar("loss", step, 1.0F);
    if (step % 4 == 3) first.scalar("val_loss", step, 1.0F);
  }
  EventFileWriter second;
  second.session_start(10, EventFileWriter::kStart + 1000);
  second.scalar("loss", 14, 2.0F);
  write("run/events.out.tfevents.1", first.bytes());
  write("run/events.out.tfevents.2", second.bytes());
  const auto run = read_run(real_file_system(), discover(real_file_system(), folder)->front());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->find("loss")->summary().points(), 11U) << "steps 0 to 9, and 14";
  EXPECT_EQ(run->find("val_loss")->summary().last_step(), 7);
  ASSERT_THAT(run->marks(), SizeIs(1));
  EXPECT_EQ(run->marks()[0].kind, Mark::Kind::restart);
  EXPECT_EQ(run->marks()[0].step, 10);
}

TEST_F(ReadTest, DistributionsReachASinkThatWantsThemAlsoThroughThreads) {
  EventFileWriter writer;
  for (int step = 0; step < 2000; ++step) {
    writer.histogram("weight", step, {-1, 1, 8, 0, 4, std::vector<double>(200, 0.5), std::vector<double>(200, 1.0)});
  }
  ASSERT_GT(writer.bytes().size(), std::size_t{4} << 20) << "large enough for threads";
  const fs::path path = write("events.out.tfevents.1", writer.bytes());
  const RunSource source = discover(real_file_system(), path)->front();
  RecordingSink sink;
  DamageReport damage;
  ASSERT_TRUE(read_events(real_file_system(), source, sink, damage));
  ASSERT_THAT(sink.histograms, SizeIs(2000));
  EXPECT_EQ(sink.names[sink.histograms[7].series], "weight");
  EXPECT_EQ(sink.histograms[7].step, 7);
  EXPECT_THAT(sink.histograms[7].counts, SizeIs(200));
  const auto run = read_run(real_file_system(), source);
  ASSERT_THAT(run->histograms(), SizeIs(1));
  EXPECT_EQ(run->histograms().begin()->second.back().counts.size(), 200U);
  EXPECT_EQ(run->find("weight#mean")->summary().points(), 2000U);
}

TEST_F(ReadTest, EveryRunOfAnMlflowDatabaseIsARun) {
  const fs::path database = fs::path(OSLER_SOURCE_DIR) / "tests/samples/mlflow-db/mlflow.db";
  const auto found = discover(real_file_system(), database);
  ASSERT_TRUE(found);
  EXPECT_THAT(names(*found), ElementsAre("first", "second"));
  const auto run = read_run(real_file_system(), (*found)[1]);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->format, "mlflow-db");
  EXPECT_EQ(run->find("loss")->summary().points(), 12U);
  EXPECT_EQ(run->find("loss")->summary().total()->nonfinite, 2U) << "an infinity and a NaN";
  EXPECT_EQ(run->configuration().at("optimizer"), "sgd");
  ASSERT_THAT(run->marks(), SizeIs(1));
  EXPECT_EQ(run->marks()[0].kind, Mark::Kind::crashed);
  // The other run logged its accuracy without steps.
  EXPECT_EQ(read_run(real_file_system(), (*found)[0])->find("val/accuracy")->summary().last_step(), 11);
}

TEST(Formats, YieldToFormatsThatExist) {
  for (const auto& entry : formats()) {
    const Format& format = entry.descriptor;
    EXPECT_TRUE(format.yields_to.empty() || find_format(format.yields_to) != nullptr) << format.id;
    EXPECT_NE(format.yields_to, format.id);
  }
}

TEST_F(ReadTest, TheFormatCanBeNamed) {
  const fs::path path = write("odd.dat", "1 2\n3 4\n5 6\n");
  ReadOptions options;
  options.format = "csv";
  const auto found = discover(real_file_system(), path, options);
  ASSERT_TRUE(found);
  EXPECT_TRUE(read_run(real_file_system(), found->front(), options));
  options.format = "nonsense";
  EXPECT_THAT(complaint(path, options), AllOf(HasSubstr("nonsense"), HasSubstr("csv"), HasSubstr("tensorboard")));
}

TEST_F(ReadTest, SaysWhatIsWrongInOneLine) {
  const std::string empty = complaint(write("empty.csv", ""));
  EXPECT_THAT(empty, HasSubstr("empty.csv: is empty"));
  const std::string nothing = complaint(folder / "nothing");
  EXPECT_THAT(nothing, HasSubstr("No such file"));
  const std::string binary = complaint(write("noise.bin", std::string("\x01\x02\x00\x03\xFF\x00\x00", 7)));
  EXPECT_THAT(binary, HasSubstr("binary"));
  const std::string prose = complaint(write("prose.txt", "Dear diary,\nnothing happened.\n"));
  EXPECT_THAT(prose,
              AllOf(HasSubstr("\"Dear diary,\""), HasSubstr("tried"), HasSubstr("csv"), HasSubstr("name its format")));
  fs::create_directory(folder / "bare");
  EXPECT_THAT(complaint(folder / "bare"), HasSubstr("holds no files"));
  write("papers/readme.txt", "Nothing to see here.\n");
  EXPECT_THAT(complaint(folder / "papers"),
              AllOf(HasSubstr("none of the 1 files"), HasSubstr("readme.txt"), HasSubstr("Nothing to see"),
                    HasSubstr("name its format"), HasSubstr("what its series mean")));
  for (const std::string& message : {empty, nothing, binary, prose}) EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST_F(ReadTest, SaysWhichPointsCameTooLateToBeInACurve) {
  const auto told = [&](const char* rows) {
    const auto found = discover(real_file_system(), write("late.csv", std::string("step,loss,val_loss\n") + rows));
    const auto run = read_run(real_file_system(), found->front());
    return run->damage.empty() ? std::string() : run->damage.items().front().what;
  };
  EXPECT_EQ(told("1,5,6\n2,4,5\n3,3,4\n4,2,3\n"), "");
  EXPECT_EQ(told("1,5,6\n2,4,5\n3,3,4\n2,,9\n4,2,3\n"), "1 point of val_loss came after later steps and is left out");
  EXPECT_EQ(told("1,5,6\n2,4,5\n3,3,4\n1,9,9\n2,,9\n4,2,3\n"),
            "3 points, 2 of them of val_loss, came after later steps and are left out");
}

TEST_F(ReadTest, SaysWhenAnEventFileHoldsNoNumbers) {
  EventFileWriter writer;
  EXPECT_THAT(complaint(write("events.out.tfevents.1", writer.bytes())), HasSubstr("no numbers"));
}

TEST_F(ReadTest, ALargeFileOfNothingIsRefusedByItsHead) {
  const fs::path path = write("zeros.log", "");
  fs::resize_file(path, std::uintmax_t{4} << 30);
  EXPECT_THAT(complaint(path), HasSubstr("binary"));
}

TEST_F(ReadTest, WithoutPermissionTheSystemsWordIsPassedOn) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const fs::path path = write("secret.csv", kTable);
  fs::permissions(path, fs::perms::none);
  EXPECT_THAT(complaint(path), HasSubstr("Permission denied"));
  EXPECT_THAT(complaint(folder), HasSubstr("Permission denied"));
}

TEST_F(ReadTest, AReadErrorKeepsWhatWasReadBefore) {
  std::string table = "step,loss\n";
  for (int i = 0; i < 200'000; ++i) table += std::to_string(i) + ",1.5\n";
  const fs::path path = write("long.csv", table);
  FaultyFileSystem faulty(real_file_system(), {.fail_read_at = 1'500'000});
  const auto found = discover(faulty, path);
  ASSERT_TRUE(found);
  const auto run = read_run(faulty, found->front());
  ASSERT_TRUE(run);
  EXPECT_GT(run->find("loss")->summary().points(), 1000U);
  EXPECT_EQ(run->damage.total(), 1U);
  EXPECT_EQ(run->damage.items()[0].source, path.string());
}

TEST_F(ReadTest, ADamagedEventFileGivesWhatIsGood) {
  std::string bytes = events();
  bytes[90] ^= 1;
  const auto found = discover(real_file_system(), write("events.out.tfevents.1", bytes));
  const auto run = read_run(real_file_system(), found->front());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->find("loss")->summary().points(), 2U);
  EXPECT_EQ(run->damage.total(), 1U);
}

TEST_F(ReadTest, ReadsFromAPipeThatClosesEarly) {
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << kTable << "4,"; });
  const auto found = discover(real_file_system(), pipe);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front().files[0].format, nullptr);
  const auto run = read_run(real_file_system(), found->front());
  writer.join();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->format, "csv");
  EXPECT_EQ(run->find("loss")->summary().points(), 3U);
}

TEST_F(ReadTest, ReadsAStreamAndSniffsIt) {
  const fs::path path = write("stream", kTable);
  auto stream = real_file_system().open_read(path);
  const auto run = read_stream(**stream, "stdin");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->name, "stdin");
  EXPECT_EQ(run->find("loss")->summary().points(), 3U);
  auto nothing = real_file_system().open_read(write("nothing", ""));
  EXPECT_THAT(describe(read_stream(**nothing, "stdin").error()), HasSubstr("stdin: is empty"));
}

TEST_F(ReadTest, NamesTheFileAlsoWhereTheReaderNamesAPlaceInIt) {
  std::ifstream sample(fs::path(OSLER_SOURCE_DIR) / "tests/samples/wandb/offline.wandb", std::ios::binary);
  std::string head(150, '\0');
  sample.read(head.data(), static_cast<std::streamsize>(head.size()));
  EXPECT_THAT(complaint(write("cut.wandb", head)), AllOf(HasSubstr("cut.wandb"), HasSubstr("byte 133")));
}

TEST_F(ReadTest, AHoleInTheMiddleOfATextIsSteppedOver) {
  std::string log;
  for (int step = 0; step < 20; ++step) {
    log += "step " + std::to_string(step) + " loss 1." + std::to_string(step) + "\n";
    if (step == 9) log += std::string(4096, '\0');
  }
  const auto run = read_run(real_file_system(), discover(real_file_system(), write("train.log", log))->front());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->find("loss")->summary().points(), 20U);
}

TEST_F(ReadTest, SaysThatAFileIsBlank) {
  EXPECT_THAT(complaint(write("blank.log", "\n\n \n")), HasSubstr("blank.log: holds nothing but blanks"));
}

TEST_F(ReadTest, ShortReadsMakeNoDifference) {
  const fs::path path = write("events.out.tfevents.1", events());
  FaultyFileSystem slow(real_file_system(), {.longest_read = 3});
  RecordingSink sink;
  DamageReport damage;
  ASSERT_TRUE(read_events(slow, discover(slow, path)->front(), sink, damage));
  EXPECT_THAT(sink.values("loss"), ElementsAre(3, 2, 1));
}

TEST_F(ReadTest, TellsHowFarItHasComeAndStopsWhenAsked) {
  std::string table = "step,loss\n";
  for (int i = 0; i < 1'000'000; ++i) table += std::to_string(i) + ",1.5\n";
  const fs::path path = write("long.csv", table);
  std::stop_source stop;
  ReadOptions options;
  ReadProgress newest;
  options.stop = stop.get_token();
  options.progress = [&](const ReadProgress& progress) {
    newest = progress;
    stop.request_stop();
  };
  const auto run = read_run(real_file_system(), discover(real_file_system(), path)->front(), options);
  ASSERT_TRUE(run);
  EXPECT_EQ(newest.bytes_total, table.size());
  EXPECT_GT(newest.events, 0U);
  EXPECT_LT(run->find("loss")->summary().points(), 1'000'000U);
}

TEST_F(ReadTest, SeveralLargeFilesAreReadAsIfOneAfterAnother) {
  for (int file = 0; file < 6; ++file) {
    EventFileWriter writer;
    for (int step = 0; step < 20'000; ++step) {
      writer.scalar("loss", 20'000 * file + step, static_cast<float>(step));
      // Each file brings a series of its own, so that numbers of series differ from file to file.
      if (step % 7 == 0) writer.scalar("only" + std::to_string(file), step, static_cast<float>(file));
    }
    writer.tensor("note", 0, "text", EventFileWriter::text_tensor(std::to_string(file)));
    std::string bytes = writer.bytes();
    bytes[5000] ^= 1;
    write("run/events.out.tfevents." + std::to_string(file), bytes);
  }
  const RunSource source = discover(real_file_system(), folder)->front();
  RecordingSink together;
  DamageReport damage;
  ASSERT_TRUE(read_events(real_file_system(), source, together, damage));

  RecordingSink apart;
  for (const SourceFile& file : source.files) {
    DamageReport ignored;
    ASSERT_TRUE(read_events(real_file_system(), {"one", {file}}, apart, ignored));
  }
  EXPECT_EQ(together.names, apart.names);
  EXPECT_EQ(together.configuration, apart.configuration);
  EXPECT_EQ(together.events, apart.events);
  ASSERT_THAT(damage.items(), SizeIs(6));
  EXPECT_THAT(damage.items()[5].source, HasSubstr("tfevents.5"));
}

TEST_F(ReadTest, AProgramThatCrashedBeforeItsFirstNumberHasToldWhatMatters) {
  const fs::path log = write("train.log",
                             "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"
                             "ImportError: no module named torch\n");
  const auto found = discover(real_file_system(), log);
  ASSERT_TRUE(found);
  const auto run = read_run(real_file_system(), found->front());
  ASSERT_TRUE(run);
  ASSERT_THAT(run->marks(), SizeIs(1));
  EXPECT_EQ(run->marks()[0].kind, Mark::Kind::crashed);
  EXPECT_THAT(complaint(write("notes.log", "nothing went wrong\nnothing was counted\n")), Not(IsEmpty()));
}

TEST_F(ReadTest, ThousandsOfIrrelevantFilesAreNoObstacle) {
  for (int i = 0; i < 2000; ++i) write("images/" + std::to_string(i) + ".png", "step,loss\n1,2\n");
  write("metrics.csv", kTable);
  EXPECT_THAT(*discover(real_file_system(), folder), SizeIs(1));
}

}  // namespace
}  // namespace osler
