// Lines by which a training tells that it was ended: by an error, a signal, the cluster.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace osler::text {

/// How a training ended before its time.
enum class CrashKind { exception, out_of_memory, nccl_timeout, time_limit, preempted, killed };

/// "out-of-memory", "nccl-timeout", ...: the first word of a crash's mark, which the diagnosis reads.
[[nodiscard]] std::string_view to_string(CrashKind kind);

/// The kind of crash that an exception's line tells of.
[[nodiscard]] CrashKind kind_of_exception(std::string_view exception);

/// The kind of crash that a line outside of tracebacks tells of, if it does: the words of the scheduler, the shell, the
/// C++ runtime and NCCL's watchdog. Lines that merely speak of memory or signals tell of none.
[[nodiscard]] std::optional<CrashKind> crash_of_line(std::string_view line);

/// Whether `line` only repeats, in vaguer words, an end that was told before: launchers and shells speak last.
[[nodiscard]] bool adds_nothing(CrashKind kind, std::string_view line, CrashKind before);

/// The text of the mark: "out-of-memory: torch.cuda.OutOfMemoryError: CUDA out of memory. ...".
[[nodiscard]] std::string crash_text(CrashKind kind, std::string_view line);

}  // namespace osler::text
