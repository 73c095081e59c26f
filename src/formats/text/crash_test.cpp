// Which lines tell that a training was ended, and which only sound like it.
#include "formats/text/crash.h"

#include <gtest/gtest.h>

#include <utility>

namespace osler::text {
namespace {

TEST(Crash, IsToldByTheScheduler) {
  EXPECT_EQ(crash_of_line("slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT ***"),
            CrashKind::time_limit);
  EXPECT_EQ(
      crash_of_line("slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-05-01T10:00:00 DUE TO PREEMPTION ***"),
      CrashKind::preempted);
  EXPECT_EQ(crash_of_line("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch."),
            CrashKind::out_of_memory);
  EXPECT_EQ(crash_of_line("slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT 2024-05-01T10:00:00 ***"),
            CrashKind::killed);
  EXPECT_EQ(crash_text(CrashKind::killed, "Epoch 0:  31%|###slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT noon ***"),
            "killed: slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT noon ***");
}

TEST(Crash, IsToldByTheWatchdogOfNccl) {
  EXPECT_EQ(crash_of_line("[rank3]: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=52, "
                          "OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600412 milliseconds before timing out."),
            CrashKind::nccl_timeout);
  EXPECT_EQ(kind_of_exception("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1269"),
            CrashKind::nccl_timeout);
}

TEST(Crash, IsToldByShellAndLauncher) {
  for (const char* line : {"Killed", "Segmentation fault (core dumped)",
                           "run.sh: line 3: 4711 Killed    python train.py", "Terminated", "Bus error (core dumped)",
                           "Fatal Python error: Segmentation fault", "Signal 9 (SIGKILL) received by PID 4711"}) {
    EXPECT_EQ(crash_of_line(line), CrashKind::killed) << line;
  }
}

TEST(Crash, IsToldByALoneExceptionThatProgramsSeldomSurvive) {
  constexpr std::pair<const char*, CrashKind> kLines[] = {
      {"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[32,128]",
       CrashKind::out_of_memory},
      {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes.",
       CrashKind::out_of_memory},
      {"ERROR: LoadError: OutOfMemoryError()", CrashKind::out_of_memory},
      {"[rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1269",
       CrashKind::nccl_timeout},
      {"RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:1234",
       CrashKind::exception},
      {"RuntimeError: DataLoader worker (pid 4123) is killed by signal: Killed.", CrashKind::killed},
      {"OSError: [Errno 28] No space left on device", CrashKind::exception},
      {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:", CrashKind::exception}};
  for (const auto& [line, kind] : kLines) EXPECT_EQ(crash_of_line(line), kind) << line;
}

TEST(Crash, IsToldByLaunchersInTheirOwnWords) {
  EXPECT_EQ(crash_of_line("[ERROR] [launch.py:320:sigkill_handler] ['python', 't.py'] exits with return code = -9"),
            CrashKind::killed);
  EXPECT_EQ(crash_of_line("[ERROR] [launch.py:320:sigkill_handler] exits with return code = 1"), CrashKind::exception);
  EXPECT_EQ(crash_of_line("[rank: 0] Received SIGTERM: 15"), CrashKind::killed);
  EXPECT_EQ(crash_of_line("Received SIGTERM: spot instance interruption notice"), CrashKind::preempted);
}

TEST(Crash, IsToldByWhateverStartedTheTraining) {
  constexpr std::pair<const char*, CrashKind> kLines[] = {
      {"srun: error: n1: task 3: Killed", CrashKind::killed},
      {"srun: error: n1: task 0: Exited with exit code 1", CrashKind::exception},
      {"srun: error: n1: tasks 0-3: Exited with exit code 143", CrashKind::killed},
      {"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", CrashKind::out_of_memory},
      {"=>> PBS: job killed: mem 123456kb exceeded limit 100000kb", CrashKind::out_of_memory},
      {"error: job 123 exceeded hard wallclock time, killing", CrashKind::time_limit},
      {"mpirun noticed that process rank 0 with PID 12 on node n exited on signal 9 (Killed).", CrashKind::killed},
      {"mpirun detected that one or more processes exited with non-zero status, thus causing", CrashKind::exception},
      {"command terminated with exit code 137", CrashKind::killed},
      {"subprocess.CalledProcessError: Command '['python', 't.py']' returned non-zero exit status 1.",
       CrashKind::exception},
      {"subprocess.CalledProcessError: Command '['python', 't.py']' died with <Signals.SIGKILL: 9>.",
       CrashKind::killed},
      {"E0801 torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 0 (pid: 123) of binary: "
       "/usr/bin/python",
       CrashKind::killed},
      {"zsh: killed     python train.py", CrashKind::killed},
      {"Windows fatal exception: access violation", CrashKind::killed},
      {"Spot instance interruption notice received", CrashKind::preempted},
      {"INFO: VM is being preempted, saving a checkpoint", CrashKind::preempted},
      {"[rank3]: [PG 0 Rank 3] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress",
       CrashKind::nccl_timeout},
      {"RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation",
       CrashKind::nccl_timeout},
      {"RuntimeError: DataLoader worker (pid 1) is killed by signal: Bus error. It is possible that dataloader's "
       "workers are out of shared memory.",
       CrashKind::out_of_memory},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
       CrashKind::out_of_memory},
      {"jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: TPU device error", CrashKind::exception},
      {"OSError: [Errno 122] Disk quota exceeded", CrashKind::exception}};
  for (const auto& [line, kind] : kLines) EXPECT_EQ(crash_of_line(line), kind) << line;
}

TEST(Crash, IsNotToldAgainInVaguerWords) {
  EXPECT_TRUE(adds_nothing(CrashKind::killed, "Aborted (core dumped)", CrashKind::out_of_memory));
  EXPECT_TRUE(adds_nothing(CrashKind::exception, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
                           CrashKind::exception));
  EXPECT_FALSE(adds_nothing(CrashKind::out_of_memory, "slurmstepd: error: Detected 1 oom-kill", CrashKind::killed));
}

TEST(Crash, OfMemoryIsKnownByItsException) {
  EXPECT_EQ(kind_of_exception("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"),
            CrashKind::out_of_memory);
  EXPECT_EQ(crash_of_line("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB"), CrashKind::out_of_memory);
  EXPECT_EQ(kind_of_exception("ValueError: bad shape"), CrashKind::exception);
  EXPECT_EQ(crash_text(CrashKind::exception, "ValueError: bad shape"), "exception: ValueError: bad shape");
}

TEST(Crash, IsNotReadIntoOrdinaryLines) {
  for (const char* line : {"WARNING: ran out of memory in backward pass, skipping batch",
                           "step 10 loss 0.5",
                           "Killed 3 stale workers",
                           "Terminated episode after 200 steps",
                           "set NCCL timeout to 600 s",
                           "max_memory_allocated: 12 GB",
                           "episode 12: the enemy was Killed",
                           "Aborted: 0",
                           "will be cancelled due to the time limit of 3 h",
                           "preemption checkpointing enabled",
                           "Received SIGUSR1, saving checkpoint",
                           "exits with return code = 0",
                           "ValueError: bad sample 17, skipped",
                           "mean squared Error: 0.5",
                           "BrokenPipeError: [Errno 32] Broken pipe",
                           "reconstruction RuntimeError: none",
                           "srun: job 71 queued and waiting for resources",
                           "srun: error: n1: task 0: Exited with exit code 0",
                           "command terminated with exit code 0",
                           "checkpoint written in case this VM is preempted",
                           "mpirun: 4 slots",
                           "failed (exitcode: 1) to fetch a sample",
                           "out of 100 samples 9 were killed",
                           ""}) {
    EXPECT_EQ(crash_of_line(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace osler::text
