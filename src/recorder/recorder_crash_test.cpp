// Trainings that are killed while they record: what was told more than a second before is in the run file.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <random>
#include <thread>

#include "osler/recorder/recorder.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using testing::read_all;
using testing::TestFolder;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kNapSeconds = 0.002;
constexpr std::size_t kMostSteps = 4096;

/// What the parent knows of a training that it will kill.
struct Diary {
  std::array<std::atomic<double>, kMostSteps> told_at{};  ///< when each step was recorded
  std::atomic<std::size_t> steps = 0;
  std::atomic<double> longest_stall = 0;  ///< by how much the machine kept the training waiting beyond its nap
};

/// A page of memory that a child shares.
class SharedDiary {
 public:
  SharedDiary()
      : memory_(::mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        diary_(new (memory_) Diary) {}
  ~SharedDiary() { ::munmap(memory_, sizeof(Diary)); }
  SharedDiary(const SharedDiary&) = delete;
  SharedDiary& operator=(const SharedDiary&) = delete;
  Diary& operator*() const { return *diary_; }
  Diary* operator->() const { return diary_; }

 private:
  void* memory_;
  Diary* diary_;
};

/// Records with the cadence that a user gets, until somebody ends it.
[[noreturn]] void train_forever(const std::filesystem::path& path, Diary& diary) {
  auto sink = run_file_sink(path);
  if (!sink) ::_exit(2);
  std::vector<SinkPointer> sinks;
  sinks.push_back(std::move(*sink));
  auto recorder = Recorder::open({"run"}, std::move(sinks));
  if (!recorder) ::_exit(3);
  const SeriesId loss = recorder->series("loss");
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    const double before = seconds_now();
    recorder->record(loss, static_cast<std::int64_t>(step), 1.0 / static_cast<double>(step + 1));
    recorder->scalar(static_cast<std::int64_t>(step), "accuracy", static_cast<double>(step));
    diary.told_at[step] = seconds_now();
    diary.steps = step + 1;
    std::this_thread::sleep_for(std::chrono::duration<double>(kNapSeconds));
    const double stall = seconds_now() - before - kNapSeconds;
    if (stall > diary.longest_stall) diary.longest_stall = stall;
  }
  ::_exit(4);
}

/// Both series must hold the steps from 0 on as they were told; returns how many steps both have.
std::size_t check_file(const std::filesystem::path& path) {
  DamageReport damage;
  const auto found = read_all(path, &damage);
  EXPECT_TRUE(damage.empty());
  std::size_t shortest = found.size() == 2 ? kMostSteps : 0;
  for (const auto& [name, points] : found) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].step, static_cast<std::int64_t>(i));
      EXPECT_EQ(points[i].value, name == "loss" ? 1.0 / static_cast<double>(i + 1) : static_cast<double>(i));
    }
    shortest = std::min(shortest, points.size());
  }
  return shortest;
}

TEST(RecorderCrash, LosesNothingOlderThanASecondBeforeItIsKilled) {
  const TestFolder folder;
  std::mt19937_64 random(2026);
  constexpr int kTrainings = 20;  // at once; each sleeps nearly all the time
  std::array<SharedDiary, kTrainings> diaries;
  std::array<pid_t, kTrainings> children{};
  const auto path_of = [&](int i) { return folder / (std::to_string(i) + ".osler"); };
  for (int i = 0; i < kTrainings; ++i) {
    const auto at = static_cast<std::size_t>(i);
    children[at] = ::fork();
    ASSERT_GE(children[at], 0);
    if (children[at] == 0) train_forever(path_of(i), *diaries[at]);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (int i = 0; i < kTrainings; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    const double killed_at = seconds_now();
    ::kill(children[at], SIGKILL);
    int status = 0;
    ::waitpid(children[at], &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the training ended by itself";
    const Diary& diary = *diaries[at];
    // A machine that kept the training from running kept the recorder from it as well.
    const double safe_until = killed_at - 1 - 4 * diary.longest_stall;
    std::size_t safe = 0;
    while (safe < diary.steps && diary.told_at[safe] < safe_until) ++safe;
    EXPECT_GE(check_file(path_of(i)), safe) << "of " << diary.steps << " steps";
  }
}

}  // namespace
}  // namespace osler
