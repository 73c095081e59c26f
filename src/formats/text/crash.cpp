// The last words of trainings, as PyTorch, Slurm, the shell and the runtime write them.
#include "formats/text/crash.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace osler::text {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLongestText = 200;
/// The shell's word on a job is short: "train.sh: line 3: 4711 Killed    python train.py".
constexpr std::size_t kLongestShellLine = 300;

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view line, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(line, part); });
}

bool starts_with_any(std::string_view line, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return line.starts_with(part); });
}

/// Without blanks and the process that torchrun puts in front of each line.
std::string_view body_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  // The scheduler writes right behind a progress bar that was not finished.
  for (const std::string_view speaker : {"slurmstepd: "sv, "srun: "sv}) {
    if (const std::size_t at = line.find(speaker); at != std::string_view::npos) return line.substr(at);
  }
  if (!line.starts_with("[rank")) return line;
  const std::size_t end = line.find("]: ");
  return end == std::string_view::npos ? line : line.substr(end + 3);
}

bool says_out_of_memory(std::string_view text) {
  return contains_any(text, {"out of memory"sv, "Out of memory"sv, "OutOfMemory"sv, "MemoryError"sv,
                             "RESOURCE_EXHAUSTED"sv, "ResourceExhausted"sv, "bad_alloc"sv, "out of shared memory"sv,
                             "STATUS_ALLOC_FAILED"sv, "cudaErrorMemoryAllocation"sv});
}

bool says_nccl(std::string_view text) {
  if (contains(text, "gloo") && contains_any(text, {"Timed out waiting"sv, "timed out"sv})) return true;
  return contains_any(text, {"NCCL"sv, "nccl"sv}) &&
         contains_any(text, {"timeout"sv, "Timeout"sv, "timed out"sv, "Watchdog"sv, "watchdog"sv, "ncclInternalError"sv,
                             "ncclSystemError"sv, "ncclRemoteError"sv, "ncclUnhandledCudaError"sv});
}

/// The code behind `words`, where the line has them; what is not a number reads as 0.
std::optional<int> code_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + words.size());
  int code = 0;
  std::from_chars(line.data(), line.data() + line.size(), code);
  return code;
}

/// What an exit code other than 0 tells: shells give 128 and the signal, others the signal below 0.
std::optional<CrashKind> kind_of_code(std::optional<int> code) {
  if (!code || *code == 0) return std::nullopt;
  constexpr int kBySignal = 128;
  return *code < 0 || *code > kBySignal ? CrashKind::killed : CrashKind::exception;
}

/// LSF, PBS and Grid Engine: "TERM_MEMLIMIT: job killed after ...", "=>> PBS: job killed: walltime 3621 exceeded ...".
std::optional<CrashKind> batch_system(std::string_view line) {
  if (starts_with_any(line, {"TERM_RUNLIMIT"sv, "=>> PBS: job killed: walltime"sv})) return CrashKind::time_limit;
  if (contains_any(line, {"exceeded hard wallclock time"sv, "exceeded soft wallclock time"sv})) {
    return CrashKind::time_limit;
  }
  if (starts_with_any(line, {"TERM_MEMLIMIT"sv, "=>> PBS: job killed: mem"sv, "=>> PBS: job killed: vmem"sv})) {
    return CrashKind::out_of_memory;
  }
  if (line.starts_with("TERM_PREEMPT")) return CrashKind::preempted;
  if (line.starts_with("=>> PBS: job killed")) return CrashKind::killed;
  return std::nullopt;
}

/// "srun: error: node1: task 3: Killed", "srun: error: node1: task 0: Exited with exit code 1"
std::optional<CrashKind> slurm_task(std::string_view line) {
  const std::size_t task = line.find(": task");
  if (!line.starts_with("srun: error: ") || task == std::string_view::npos) return std::nullopt;
  const std::size_t said = line.find(": ", task + 2);
  if (said == std::string_view::npos) return std::nullopt;
  line.remove_prefix(said + 2);
  if (starts_with_any(line, {"Killed"sv, "Terminated"sv, "Segmentation fault"sv, "Bus error"sv, "Aborted"sv})) {
    return CrashKind::killed;
  }
  return kind_of_code(code_after(line, "Exited with exit code "));
}

/// What clouds say of a machine that they take back.
bool tells_preemption(std::string_view line) {
  return line.size() <= kLongestShellLine &&
         contains_any(line, {"Spot instance interruption"sv, "spot instance interruption"sv,
                             "Spot Instance Interruption"sv, "Spot interruption notice"sv, "spot interruption notice"sv,
                             "is being preempted"sv, "was preempted"sv, "has been preempted"sv});
}

/// Slurm: "slurmstepd: error: *** JOB 1 ON node CANCELLED AT ... DUE TO TIME LIMIT ***"; other schedulers likewise.
std::optional<CrashKind> scheduler(std::string_view line) {
  if (contains(line, "DUE TO TIME LIMIT")) return CrashKind::time_limit;
  if (const auto kind = batch_system(line)) return kind;
  if (contains(line, "DUE TO PREEMPTION")) return CrashKind::preempted;
  const bool slurm = starts_with_any(line, {"slurmstepd:"sv, "srun:"sv, "slurmd:"sv});
  if (slurm && contains_any(line, {"oom-kill"sv, "oom_kill"sv, "Out Of Memory"sv, "Exceeded job memory"sv})) {
    return CrashKind::out_of_memory;
  }
  if (slurm && contains(line, "CANCELLED AT")) return CrashKind::killed;
  if (const auto kind = slurm_task(line)) return kind;
  return tells_preemption(line) ? std::optional(CrashKind::preempted) : std::nullopt;
}

/// "Killed", "Segmentation fault (core dumped)", "train.sh: line 3: 4711 Killed  python train.py"
bool shell_tells_death(std::string_view line) {
  static constexpr std::array kDeaths = {"Killed"sv,    "Terminated"sv, "Segmentation fault"sv,
                                         "Bus error"sv, "Aborted"sv,    "Illegal instruction"sv,
                                         "Hangup"sv};
  if (line.size() > kLongestShellLine) return false;
  if (starts_with_any(line, {"zsh: killed "sv, "zsh: terminated "sv, "zsh: segmentation fault "sv, "zsh: abort "sv})) {
    return true;
  }
  std::string_view said = line;
  // "script: line 3: 4711 Killed": what stands in front of the process number is the script's.
  if (const std::size_t at = line.find(": line "); at != std::string_view::npos) {
    const std::size_t colon = line.find(": ", at + 7);
    if (colon == std::string_view::npos) return false;
    said = line.substr(colon + 2);
    const std::size_t word = said.find_first_not_of("0123456789 ");
    if (word == 0 || word == std::string_view::npos) return false;
    said.remove_prefix(word);
  }
  for (const std::string_view death : kDeaths) {
    if (!said.starts_with(death)) continue;
    const std::string_view rest = said.substr(death.size());
    if (rest.empty() || rest.starts_with(" (core dumped)")) return true;
    if (rest == ": 9" || rest == ": 15") return true;                       // macOS
    if (said.data() != line.data() && rest.starts_with("  ")) return true;  // the command follows after blanks
  }
  return false;
}

/// "torch.distributed.DistBackendError" of "torch.distributed.DistBackendError: NCCL error in ..."; empty where the
/// line does not begin with the name of an exception.
std::string_view exception_name(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  if (colon + 1 < line.size() && line[colon + 1] != ' ') return {};
  const std::string_view name = line.substr(0, colon);
  const bool word = std::all_of(name.begin(), name.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return word && (name.ends_with("Error") || name.ends_with("Exception")) ? name : std::string_view();
}

/// An exception without its traceback, as a launcher or a logger passes it on. Only of kinds that a program seldom
/// survives: others are often caught, told and passed over.
std::optional<CrashKind> lone_exception(std::string_view line) {
  constexpr std::string_view kJulia = "ERROR: LoadError: ";
  if (line.starts_with(kJulia)) return kind_of_exception(line.substr(kJulia.size()));
  const std::string_view name = exception_name(line);
  if (name.empty()) return std::nullopt;
  const bool fatal = name == "RuntimeError" || name.ends_with("DistBackendError") ||
                     name.ends_with("ChildFailedError") || name.ends_with("XlaRuntimeError") ||
                     says_out_of_memory(line) ||
                     contains_any(line, {"No space left on device"sv, "Disk quota exceeded"sv});
  return fatal ? std::optional(kind_of_exception(line)) : std::nullopt;
}

/// What launchers say of the code with which a process ended.
std::optional<CrashKind> launcher_tells_code(std::string_view line) {
  // DeepSpeed: "[ERROR] [launch.py:320:sigkill_handler] [...] exits with return code = -9"
  if (const auto kind = kind_of_code(code_after(line, "exits with return code = "))) return kind;
  // torchrun: "failed (exitcode: -9) local_rank: 0 (pid: 123) of binary: /usr/bin/python"
  if (contains(line, "local_rank")) return kind_of_code(code_after(line, "failed (exitcode: "));
  // Kubernetes
  if (line.starts_with("command terminated with exit code ")) {
    return kind_of_code(code_after(line, "command terminated with exit code "));
  }
  // accelerate and others that run a script: "subprocess.CalledProcessError: Command '...' returned non-zero ..."
  if (line.starts_with("subprocess.CalledProcessError: Command ")) {
    return contains(line, " died with <Signals.") ? CrashKind::killed
                                                  : kind_of_code(code_after(line, "non-zero exit status "));
  }
  return std::nullopt;
}

/// "mpirun noticed that process rank 0 with PID 12 on node n exited on signal 9 (Killed)."
std::optional<CrashKind> mpi_tells(std::string_view line) {
  if (!starts_with_any(line, {"mpirun "sv, "mpiexec "sv, "prterun "sv})) return std::nullopt;
  if (contains(line, " exited on signal ")) return CrashKind::killed;
  return contains(line, "exited with non-zero status") ? std::optional(CrashKind::exception) : std::nullopt;
}

bool launcher_tells_signal(std::string_view line) {
  if (starts_with_any(line,
                      {"Fatal Python error:"sv, "Windows fatal exception:"sv, "*** Process received signal ***"sv})) {
    return true;
  }
  // Lightning: "[rank: 0] Received SIGTERM: 15"
  if (contains(line, "Received SIGTERM: 15") || line.starts_with("Received SIGTERM")) return true;
  return contains_any(line, {"(SIGKILL) received by PID"sv, "(SIGTERM) received by PID"sv,
                             "(SIGSEGV) received by PID"sv, "(SIGABRT) received by PID"sv, "(SIGBUS) received by PID"sv,
                             "torch.distributed.elastic.multiprocessing.api.SignalException"sv});
}

}  // namespace

std::string_view to_string(CrashKind kind) {
  switch (kind) {
    case CrashKind::out_of_memory:
      return "out-of-memory";
    case CrashKind::nccl_timeout:
      return "nccl-timeout";
    case CrashKind::time_limit:
      return "time-limit";
    case CrashKind::preempted:
      return "preempted";
    case CrashKind::killed:
      return "killed";
    case CrashKind::exception:
      break;
  }
  return "exception";
}

CrashKind kind_of_exception(std::string_view exception) {
  if (says_out_of_memory(exception)) return CrashKind::out_of_memory;
  if (says_nccl(exception) || contains(exception, "DistBackendError")) return CrashKind::nccl_timeout;
  if (contains(exception, "reempt")) return CrashKind::preempted;
  if (contains(exception, " died with <Signals.")) return CrashKind::killed;
  if (contains_any(exception, {"got signal: 15"sv, "got signal: 9"sv, "SIGTERM"sv, "SIGKILL"sv, "SignalException"sv,
                               "killed by signal"sv})) {
    return CrashKind::killed;
  }
  return CrashKind::exception;
}

std::optional<CrashKind> crash_of_line(std::string_view line) {
  line = body_of(line);
  if (line.empty()) return std::nullopt;
  if (const auto kind = scheduler(line)) return kind;
  if (contains_any(line,
                   {"Watchdog caught collective operation timeout"sv, "ProcessGroupNCCL's watchdog got stuck"sv})) {
    return CrashKind::nccl_timeout;
  }
  if (const auto kind = lone_exception(line)) return kind;
  if (const auto kind = launcher_tells_code(line)) return kind;
  if (const auto kind = mpi_tells(line)) return kind;
  if (line.starts_with("terminate called after throwing")) {
    return says_out_of_memory(line) ? CrashKind::out_of_memory : CrashKind::exception;
  }
  if (launcher_tells_signal(line)) {
    return contains_any(line, {"reempt"sv, "spot instance"sv, "Spot instance"sv}) ? CrashKind::preempted
                                                                                  : CrashKind::killed;
  }
  return shell_tells_death(line) ? std::optional(CrashKind::killed) : std::nullopt;
}

bool adds_nothing(CrashKind kind, std::string_view line, CrashKind before) {
  const auto says = [](CrashKind one) { return one == CrashKind::killed ? 0 : one == CrashKind::exception ? 1 : 2; };
  return says(kind) < says(before) || contains(line, "ChildFailedError");
}

std::string crash_text(CrashKind kind, std::string_view line) {
  line = body_of(line);
  return std::string(to_string(kind)) + ": " + std::string(line.substr(0, kLongestText));
}

}  // namespace osler::text
