// Damages logs of the tree by the thousand and asks every verb of Osler about them: no crash, no hang, no answer that
// is not one, and bounded memory. The work is done in child processes, so that a crash is told with the log that made
// it.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <new>

#include "mutate/examine.h"
#include "mutate/mutation.h"

namespace osler::mutate {
namespace {

namespace fs = std::filesystem;

struct Wishes {
  std::size_t files = 300;
  std::uint64_t seed = 1;
  std::size_t jobs = 2;
  bool all_questions = false;  ///< of every file, instead of two
  double seconds = 20;         ///< of computing that one file may take, all questions together
  std::size_t megabytes = 512;
  std::string keep = ".";
};

/// What a child is at, for the parent to read when it is dead. In shared memory.
struct Progress {
  std::uint64_t file = 0;
  std::size_t question = 0;
  std::uint64_t asked = 0;
  std::uint64_t read = 0;
  double slowest = 0;  ///< seconds of computing
  std::uint64_t slowest_file = 0;
  long most_kilobytes = 0;
  std::array<char, 200> complaint{};  ///< empty: none
};

double computing_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

/// Kills this process with SIGPROF when it computes for longer than this.
void limit_computing(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

/// The most memory that this process has had since the last call, in kilobytes.
long peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  long peak = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) peak = std::stol(line.substr(6));
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // begins anew
  return peak;
}

struct Mutant {
  std::string name;
  std::string bytes;
};

/// The log with that number; the same for the same seed, whatever was made before.
Mutant make(const std::vector<Original>& originals, const Wishes& wishes, std::uint64_t file) {
  simulate::Random random(wishes.seed * 1'000'000'007 + file);
  const auto any = [&]() -> const Original& {
    return originals[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(originals.size()) - 1))];
  };
  const Original& original = any();
  const Original& other = any();
  return {original.name, mutated(original.bytes, other.bytes, random)};
}

/// Asks about the files from `first` on, `stride` apart. Returns the exit code of the child: 0 when all went well.
int work(const std::vector<Original>& originals, const Wishes& wishes, const fs::path& folder, std::uint64_t first,
         std::uint64_t end, Progress& progress) {
  Bench bench(folder);
  const auto all = questions();
  for (std::uint64_t file = first; file < end; ++file) {
    progress.file = file;
    const Mutant mutant = make(originals, wishes, file);
    bench.lay(mutant.name, mutant.bytes);
    const double before = computing_seconds();
    limit_computing(wishes.seconds);
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Every log is diagnosed, and asked one question more, in turn.
      if (!wishes.all_questions && i != 0 && i != 1 + file % (all.size() - 1)) continue;
      progress.question = i;
      const auto [problem, read] = all[i].ask(bench);
      ++progress.asked;
      progress.read += read ? 1 : 0;
      if (problem.empty()) continue;
      std::strncpy(progress.complaint.data(), problem.c_str(), progress.complaint.size() - 1);
      return 1;
    }
    bench.clear_output();
    const double took = computing_seconds() - before;
    if (took > progress.slowest) {
      progress.slowest = took;
      progress.slowest_file = file;
    }
    const long kilobytes = peak_kilobytes();
    progress.most_kilobytes = std::max(progress.most_kilobytes, kilobytes);
    if (wishes.megabytes > 0 && kilobytes > static_cast<long>(wishes.megabytes) * 1024) {
      std::strncpy(progress.complaint.data(), "too much memory", progress.complaint.size() - 1);
      return 1;
    }
  }
  return 0;
}

/// A batch of files that a child works on.
struct Batch {
  std::uint64_t end = 0;
  Progress* progress = nullptr;
  fs::path folder;
};

class Campaign {
 public:
  explicit Campaign(const Wishes& wishes) : wishes_(wishes), originals_(originals(OSLER_SOURCE_DIR)) {
    std::string name = (fs::temp_directory_path() / "osler-mutants-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    // Run files are made here: none lies in the tree.
    const Original run = {"sound.osler", run_file(Bench(folder_ / "whole"))};
    originals_.insert(originals_.end(), 6, run);  // as often as logs of a format with some samples
  }
  ~Campaign() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  int run() {
    for (std::uint64_t file = 0; file < wishes_.files; file += kBatch) {
      if (running_.size() >= wishes_.jobs) collect();
      start(file, std::min<std::uint64_t>(file + kBatch, wishes_.files));
    }
    while (!running_.empty()) collect();
    fmt::print("{} damaged copies of {} logs, {} calls, of which {} found something to read; failures: {}\n",
               wishes_.files, originals_.size(), asked_, read_, failures_);
    fmt::print("slowest: {:.2f} s of computing (number {}); most memory: {} MB\n", slowest_, slowest_file_,
               most_kilobytes_ / 1024);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  static constexpr std::uint64_t kBatch = 100;

  void start(std::uint64_t first, std::uint64_t end) {
    void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Batch batch{end, new (shared) Progress, folder_ / std::to_string(first)};
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const int code = work(originals_, wishes_, batch.folder, first, end, *batch.progress);
      std::fflush(nullptr);
      ::exit(code);  // with what a sanitizer has to say at the end
    }
    running_[child] = batch;
  }

  /// Waits for one child, and goes on behind the file that ended it, if one did.
  void collect() {
    int status = 0;
    const pid_t child = ::wait(&status);
    const auto found = running_.find(child);
    if (found == running_.end()) return;
    const Batch batch = found->second;
    running_.erase(found);
    const Progress& progress = *batch.progress;
    asked_ += progress.asked;
    read_ += progress.read;
    if (progress.slowest > slowest_) {
      slowest_ = progress.slowest;
      slowest_file_ = progress.slowest_file;
    }
    most_kilobytes_ = std::max(most_kilobytes_, progress.most_kilobytes);
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!well) tell(progress, status);
    const std::uint64_t next = progress.file + 1;
    ::munmap(batch.progress, sizeof(Progress));
    fs::remove_all(batch.folder);
    if (!well && next < batch.end) start(next, batch.end);
  }

  void tell(const Progress& progress, int status) {
    ++failures_;
    const Mutant mutant = make(originals_, wishes_, progress.file);
    const fs::path kept = fs::path(wishes_.keep) / fmt::format("mutant-{}-{}", progress.file, mutant.name);
    std::ofstream(kept, std::ios::binary) << mutant.bytes;
    std::string what = progress.complaint.data();
    if (WIFSIGNALED(status)) {
      what =
          WTERMSIG(status) == SIGPROF ? "computes for too long" : fmt::format("ended by signal {}", WTERMSIG(status));
    } else if (what.empty()) {
      what = fmt::format("ended with exit code {}", WEXITSTATUS(status));
    }
    fmt::print("number {}, {}: {}; kept as {}\n", progress.file, questions()[progress.question].name, what,
               kept.string());
  }

  Wishes wishes_;
  std::vector<Original> originals_;
  fs::path folder_;
  std::map<pid_t, Batch> running_;
  std::uint64_t asked_ = 0;
  std::uint64_t read_ = 0;
  std::size_t failures_ = 0;
  double slowest_ = 0;
  std::uint64_t slowest_file_ = 0;
  long most_kilobytes_ = 0;
};

int run(int count, char** arguments) {
  Wishes wishes;
  CLI::App program("Damages logs by the thousand and asks every verb of Osler about them.");
  program.add_option("--files", wishes.files, "How many damaged copies")->capture_default_str();
  program.add_option("--seed", wishes.seed, "Another seed, other damage")->capture_default_str();
  program.add_option("--jobs", wishes.jobs, "Processes at once")->capture_default_str();
  program.add_flag("--all", wishes.all_questions, "Ask every question of every copy, not two of them");
  program.add_option("--seconds", wishes.seconds, "Of computing, for one copy")->capture_default_str();
  program.add_option("--megabytes", wishes.megabytes, "At most, for one copy; 0 is any")->capture_default_str();
  program.add_option("--keep", wishes.keep, "Where to keep what made Osler fail")->capture_default_str();
  CLI11_PARSE(program, count, arguments);
  return Campaign(wishes).run();
}

}  // namespace
}  // namespace osler::mutate

int main(int count, char** arguments) {
  return osler::mutate::run(count, arguments);
}
