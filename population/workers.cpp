// Makes many runs with several processes; what is complete is never made again.
#include "workers.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "specimen.h"

namespace osler::population {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// What all processes share.
struct Shared {
  std::atomic<long> next{0};
  std::atomic<long> done{0};
  std::atomic<long> failed{0};
};

volatile sig_atomic_t stopped = 0;

void stop(int /*signal*/) {
  stopped = 1;
}

fs::path run_folder(const Request& request, long index) {
  return request.out / "runs" / specimen_id(request.seed, index);
}

/// The meta data comes last and by renaming: a run that has it is complete.
void keep(const fs::path& folder, const Specimen& specimen) {
  fs::create_directories(folder);
  std::ofstream(folder / specimen.file, std::ios::binary) << specimen.log;
  const fs::path unfinished = folder / "meta.json.part";
  {
    std::ofstream file(unfinished, std::ios::binary);
    file << specimen.meta << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + unfinished.string());
  }
  fs::rename(unfinished, folder / "meta.json");
}

void work(const Request& request, const std::vector<long>& missing, Shared& shared) {
  at::set_num_threads(1);
  while (stopped == 0) {
    const long place = shared.next.fetch_add(1);
    if (place >= static_cast<long>(missing.size())) return;
    const long index = missing[static_cast<std::size_t>(place)];
    try {
      keep(run_folder(request, index), make_specimen(request.seed, index));
      shared.done.fetch_add(1);
    } catch (const std::exception& failure) {
      shared.failed.fetch_add(1);
      std::fprintf(stderr, "\nrun %s: %s\n", specimen_id(request.seed, index).c_str(), failure.what());
    }
  }
}

pid_t start_worker(const Request& request, const std::vector<long>& missing, Shared& shared) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 0;
  try {
    work(request, missing, shared);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "\nworker: %s\n", failure.what());
    status = 1;
  }
  std::fflush(stderr);
  _exit(status);
}

void tell(const Shared& shared, std::size_t missing, Clock::time_point began) {
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const auto done = static_cast<double>(shared.done.load() + shared.failed.load());
  const double left = done > 0 ? seconds / done * (static_cast<double>(missing) - done) : 0;
  const char* line = isatty(STDERR_FILENO) != 0 ? "\r%.0f of %zu runs, %.0f s, about %.0f s left   "
                                                : "%.0f of %zu runs, %.0f s, about %.0f s left\n";
  std::fprintf(stderr, line, done, missing, seconds, left);
  std::fflush(stderr);
}

/// Waits for all workers and starts another one for each that crashed: the run that crashed it is left out.
void attend(const Request& request, const std::vector<long>& missing, Shared& shared, long workers) {
  const Clock::time_point began = Clock::now();
  long alive = workers;
  Clock::time_point told = began;
  while (alive > 0) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0) {
      --alive;
      if (WIFSIGNALED(status) && stopped == 0) {
        shared.failed.fetch_add(1);
        std::fprintf(stderr, "\na worker was ended by signal %d\n", WTERMSIG(status));
        if (start_worker(request, missing, shared) > 0) ++alive;
      }
      continue;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (request.seconds > 0 && std::chrono::duration<double>(Clock::now() - began).count() > request.seconds) {
      shared.next.store(static_cast<long>(missing.size()));
    }
    if (Clock::now() - told > std::chrono::seconds(isatty(STDERR_FILENO) != 0 ? 1 : 20)) {
      told = Clock::now();
      tell(shared, missing.size(), began);
    }
  }
  tell(shared, missing.size(), began);
  std::fprintf(stderr, "\n");
}

}  // namespace

long gather_meta(const fs::path& out) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs")) {
    if (fs::exists(entry.path() / "meta.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::ofstream all(out / "meta.jsonl", std::ios::binary);
  std::map<std::string, long> verdicts;
  for (const fs::path& folder : folders) {
    std::ifstream file(folder / "meta.json", std::ios::binary);
    std::string line;
    std::getline(file, line);
    all << line << '\n';
    for (const char* verdict : {"sick", "healthy", "undecidable"}) {
      if (line.find("\"verdict\": \"" + std::string(verdict) + "\"") != std::string::npos) ++verdicts[verdict];
    }
  }
  std::printf("%zu runs: %ld sick, %ld healthy, %ld undecidable\n", folders.size(), verdicts["sick"],
              verdicts["healthy"], verdicts["undecidable"]);
  return static_cast<long>(folders.size());
}

bool make_population(const Request& request) {
  fs::create_directories(request.out / "runs");
  std::vector<long> missing;
  for (long index = request.first; index < request.first + request.runs; ++index) {
    if (!fs::exists(run_folder(request, index) / "meta.json")) missing.push_back(index);
  }
  std::fprintf(stderr, "%zu of %ld runs are to be trained by %ld processes\n", missing.size(), request.runs,
               request.jobs);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  Shared& shared = *new (memory) Shared;
  struct sigaction action = {};
  action.sa_handler = stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  long workers = 0;
  for (long i = 0; i < std::min<long>(request.jobs, static_cast<long>(missing.size())); ++i) {
    if (start_worker(request, missing, shared) > 0) ++workers;
  }
  attend(request, missing, shared, workers);
  gather_meta(request.out);
  return shared.done.load() == static_cast<long>(missing.size());
}

}  // namespace osler::population
