// Faults below every write: at each system call in turn the disk is full, fails, takes half, or the process is killed.
// What was there before is there afterwards, whole; what is new is there whole or not at all.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <new>

#include "cli/program.h"
#include "faults/system_calls.h"
#include "osler/dashboard/html_report.h"
#include "osler/source/notes.h"
#include "osler/source/source.h"
#include "run_file_samples.h"

namespace osler::faults {
namespace {

namespace fs = std::filesystem;
using ::osler::testing::read_all;
using ::osler::testing::TestFolder;

constexpr Fault kFaults[] = {Fault::no_space, Fault::io_error, Fault::short_write, Fault::killed};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A log that falls, long enough to be judged.
std::string log_text() {
  std::string text = "step,loss,val_loss\n";
  for (int step = 0; step < 120; ++step) {
    const std::string loss = std::to_string(0.5 + 2.0 / (1 + step));
    text.append(std::to_string(step)).append(",").append(loss).append(",").append(loss).append("\n");
  }
  return text;
}

/// How a child ended, and what its calls met.
struct End {
  Tally tally;
  bool killed = false;
  int code = -1;
};

/// Does `work` in a child whose calls go by the plan; its result is the exit code.
End suffer(const Plan& plan, const std::function<int()>& work) {
  void* shared = ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* tally = new (shared) Tally;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    arm(plan, *tally);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  End end{*tally, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  EXPECT_TRUE(end.killed || end.code >= 0) << "ended by signal " << WTERMSIG(status);
  ::munmap(shared, sizeof(Tally));
  return end;
}

int osler(const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"osler"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return cli::run_program(static_cast<int>(arguments.size()), arguments.data());
}

std::string told(const Plan& plan, const End& end) {
  constexpr const char* kNames[] = {"none", "no space", "I/O error", "short write", "killed"};
  return std::string(kNames[static_cast<int>(plan.fault)]) + (plan.on ? " from call " : " at call ") +
         std::to_string(plan.at) + " (" + end.tally.call + "), exit code " + std::to_string(end.code);
}

/// Every call in turn meets every fault, once, and the full disk also from there on: `prepare`, the work, then `check`.
void at_every_call(const std::function<void()>& prepare, const std::function<int()>& work,
                   const std::function<void(const End&)>& check) {
  prepare();
  const End sound = suffer({}, work);
  ASSERT_LE(sound.code, 1) << "the work fails by itself";
  ASSERT_GT(sound.tally.calls, 2) << "no calls were seen";
  ::testing::Test::RecordProperty("calls", static_cast<int>(sound.tally.calls));
  for (const Fault fault : kFaults) {
    for (const bool on : {false, true}) {
      if (on && fault != Fault::no_space) continue;
      // The number of calls may vary a little: some depend on the time.
      for (std::int64_t at = 0; at < sound.tally.calls; ++at) {
        prepare();
        const Plan plan{fault, at, on};
        const End end = suffer(plan, work);
        check(end);
        ASSERT_FALSE(::testing::Test::HasFailure()) << told(plan, end);
      }
    }
  }
}

/// A verb that reads `log.csv` and writes one file over an older one.
void check_replacing(const std::vector<std::string>& words_before, const std::string& name) {
  const TestFolder folder;
  const fs::path log = folder / "log.csv";
  const fs::path out = folder / name;
  const std::string text = log_text();
  std::vector<std::string> words = words_before;
  for (std::string& word : words) {
    if (word == "LOG") word = log.string();
    if (word == "OUT") word = out.string();
    if (word == "RUNS") word = (folder / "runs").string();
  }
  write(log, text);
  for (int i = 0; i < 10; ++i) write(folder / ("runs/" + std::to_string(i) + ".csv"), text);
  write(out, "old");
  ASSERT_LE(suffer({}, [&] { return osler(words); }).code, 1);
  const std::string whole = content(out);
  ASSERT_NE(whole, "old");
  at_every_call([&] { write(out, "old"); }, [&] { return osler(words); },
                [&](const End& end) {
                  EXPECT_EQ(content(log), text);
                  const std::string now = content(out);
                  // A creation time or an id in it may differ, its length does not.
                  EXPECT_TRUE(now == "old" || now.size() == whole.size()) << now.size() << " of " << whole.size();
                  if (!end.killed && end.code == cli::kFine) {
                    EXPECT_NE(now, "old") << "said to be written";
                  }
                  if (end.tally.struck > 0 && !end.killed && end.code == cli::kCannotJudge) {
                    EXPECT_EQ(now, "old") << "said to have failed";
                  }
                });
}

TEST(Faults, AConversionToCsvLosesNothing) {
  check_replacing({"convert", "LOG", "-o", "OUT", "--force"}, "out.csv");
}

TEST(Faults, AConversionToJsonLinesLosesNothing) {
  check_replacing({"convert", "LOG", "-o", "OUT", "--force"}, "out.jsonl");
}

TEST(Faults, AFigureLosesNothing) {
  check_replacing({"plot", "LOG", "-o", "OUT"}, "out.svg");
}

TEST(Faults, AFigureInPngLosesNothing) {
  check_replacing({"plot", "LOG", "-o", "OUT", "--kind", "overview", "--width", "320", "--scale", "1"}, "out.png");
}

TEST(Faults, AFigureInPdfLosesNothing) {
  check_replacing({"plot", "LOG", "-o", "OUT"}, "out.pdf");
}

TEST(Faults, AReportInPdfLosesNothing) {
  check_replacing({"report", "LOG", "-o", "OUT"}, "out.pdf");
}

TEST(Faults, AReportInPngLosesNothing) {
  check_replacing({"report", "LOG", "-o", "OUT"}, "out.png");
}

TEST(Faults, AReportInHtmlLosesNothing) {
  if (!has_dashboard()) GTEST_SKIP() << "this build has no web pages: Node or npm was missing";
  check_replacing({"diagnose", "LOG", "--html", "OUT"}, "out.html");
}

TEST(Faults, AReportInSarifLosesNothing) {
  check_replacing({"diagnose", "LOG", "--sarif", "OUT"}, "out.sarif");
}

TEST(Faults, ABaselineLosesNothing) {
  check_replacing({"baseline", "learn", "RUNS", "-o", "OUT"}, "team.json");
}

TEST(Faults, ALearnersProgressIsNotLost) {
  using ::testing::AnyOf;
  const TestFolder folder;
  const fs::path path = folder / "state/learn.json";
  const auto read_lesson = [&](const char* lesson) { return osler({"learn", lesson, "--progress", path.string()}); };
  ASSERT_EQ(suffer({}, [&] { return read_lesson("1"); }).code, cli::kFine);
  const std::string before = content(path);
  ASSERT_EQ(suffer({}, [&] { return read_lesson("2"); }).code, cli::kFine);
  const std::string after = content(path);
  ASSERT_NE(before, after);
  at_every_call([&] { write(path, before); }, [&] { return read_lesson("2"); },
                [&](const End& end) {
                  EXPECT_THAT(content(path), AnyOf(before, after));
                  if (end.tally.struck == 0) {
                    EXPECT_EQ(content(path), after);
                  }
                });
}

/// A verb that puts files into a folder beside older ones.
void check_joining(const std::string& format) {
  const TestFolder folder;
  const fs::path log = folder / "log.csv";
  const fs::path out = folder / "out";
  const fs::path older = out / "older.txt";
  const std::string text = log_text();
  write(log, text);
  at_every_call(
      [&] {
        fs::remove_all(out);
        write(older, "older");
      },
      [&] {
        return osler({"convert", log.string(), "-o", out.string(), "--to", format});
      },
      [&](const End& /*end*/) {
        EXPECT_EQ(content(log), text);
        EXPECT_EQ(content(older), "older");
      });
}

TEST(Faults, AConversionToTensorBoardLosesNothing) {
  check_joining("tensorboard");
}

TEST(Faults, AConversionToWandbLosesNothing) {
  check_joining("wandb");
}

/// Appends the steps from `first` to `end` in commits of a hundred. Commits that fail are tried again with the next.
int record(const fs::path& path, std::int64_t first, std::int64_t end) {
  auto writer = RunFileWriter::open(path);
  if (!writer) return 2;
  bool whole = true;
  for (std::int64_t step = first; step < end; ++step) {
    writer->add(Event{writer->series("loss"), step, kNoTime, 1.0 / static_cast<double>(1 + step)});
    if (step % 100 == 99) whole = writer->commit().has_value();
  }
  const bool closed = writer->close().has_value();
  return whole && closed ? 0 : 1;
}

/// How many steps a run file holds: from 0 on, without a gap, each with its value.
std::int64_t steps_in(const fs::path& path) {
  DamageReport damage;
  const auto found = read_all(path, &damage);
  EXPECT_TRUE(damage.empty());
  if (found.empty()) return 0;
  const auto& points = found.begin()->second;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].step != static_cast<std::int64_t>(i) || points[i].value != 1.0 / static_cast<double>(1 + i)) {
      ADD_FAILURE() << "step " << points[i].step << " at place " << i;
      break;
    }
  }
  return static_cast<std::int64_t>(points.size());
}

TEST(Faults, AConversionToARunFileLosesNothing) {
  const TestFolder folder;
  const fs::path log = folder / "log.csv";
  const fs::path out = folder / "out.osler";
  const std::string text = log_text();
  write(log, text);
  constexpr std::int64_t kOld = 77;
  ASSERT_EQ(record(folder / "old.osler", 0, kOld), 0);
  at_every_call([&] { fs::copy_file(folder / "old.osler", out, fs::copy_options::overwrite_existing); },
                [&] {
                  return osler({"convert", log.string(), "-o", out.string(), "--force"});
                },
                [&](const End& end) {
                  EXPECT_EQ(content(log), text);
                  DamageReport damage;
                  const auto found = read_all(out, &damage);
                  EXPECT_TRUE(damage.empty());
                  const bool old = found.size() == 1 && found.begin()->second.size() == kOld;
                  const bool whole = found.size() == 2 && found.begin()->second.size() == 120;
                  EXPECT_TRUE(old || whole) << found.size() << " series";
                  if (!end.killed && end.code == cli::kFine) {
                    EXPECT_TRUE(whole);
                  }
                });
}

/// The texts of the notes on a run.
std::vector<std::string> notes_on(const fs::path& log) {
  std::vector<std::string> texts;
  const auto run = read(log.string());
  EXPECT_TRUE(run);
  if (!run) return texts;
  for (const Mark& mark : run->marks()) texts.push_back(mark.text);
  return texts;
}

TEST(Faults, ANoteLosesNoOther) {
  using ::testing::AnyOf;
  using ::testing::Contains;
  using ::testing::ElementsAre;
  const TestFolder folder;
  const fs::path log = folder / "log.csv";
  const fs::path notes = log.string() + std::string(kNotesEnding);
  const std::string text = log_text();
  write(log, text);
  at_every_call([&] { write(notes, "{\"step\":3,\"text\":\"old\"}\n"); },
                [&] {
                  return osler({"note", log.string(), "new"});
                },
                [&](const End& end) {
                  EXPECT_EQ(content(log), text);
                  if (!end.killed && end.code == cli::kFine) {
                    EXPECT_THAT(notes_on(log), Contains("new")) << "said to be written";
                  }
                  if (!end.killed && end.code == cli::kCannotJudge) {
                    EXPECT_THAT(notes_on(log), ElementsAre("old")) << "said to have failed";
                  }
                  // Whatever was left there takes neither its neighbour nor the next one along.
                  EXPECT_EQ(suffer({}, [&] { return osler({"note", log.string(), "next"}); }).code, cli::kFine);
                  EXPECT_THAT(notes_on(log), AnyOf(ElementsAre("old", "next"), ElementsAre("old", "next", "new"),
                                                   ElementsAre("old", "new", "next")));
                });
}

TEST(Faults, ARunFileKeepsWhatItHeldBeforeMoreIsRecorded) {
  const TestFolder folder;
  const fs::path path = folder / "run.osler";
  constexpr std::int64_t kBefore = 300;
  constexpr std::int64_t kAfter = 600;
  ASSERT_EQ(record(folder / "old.osler", 0, kBefore), 0);
  at_every_call(
      [&] {
        for (const char* ending : {"-wal", "-shm"}) fs::remove(path.string() + ending);
        fs::copy_file(folder / "old.osler", path, fs::copy_options::overwrite_existing);
      },
      [&] { return record(path, kBefore, kAfter); },
      [&](const End& end) {
        const std::int64_t steps = steps_in(path);
        EXPECT_GE(steps, kBefore);
        if (!end.killed && end.code == 0) {
          EXPECT_EQ(steps, kAfter) << "said to be recorded";
        }
      });
}

TEST(Faults, ANewRunFileCanBeContinuedWhateverCameOfItsBeginning) {
  const TestFolder folder;
  const fs::path path = folder / "run.osler";
  at_every_call(
      [&] {
        for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(path.string() + ending);
      },
      [&] { return record(path, 0, 200); },
      [&](const End& end) {
        if (!end.killed && end.code == 0) {
          EXPECT_EQ(steps_in(path), 200);
        }
        auto writer = RunFileWriter::open(path);
        ASSERT_TRUE(writer) << describe(writer.error());
        writer->add(Event{writer->series("more"), 0, kNoTime, 1.0});
        EXPECT_TRUE(writer->close());
      });
}

}  // namespace
}  // namespace osler::faults
