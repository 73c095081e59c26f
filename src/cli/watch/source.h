// WatchedSource: the runs being watched, from files or from a pipe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/watch/surroundings.h"
#include "osler/formats/follow.h"

namespace osler::cli {

/// A watched run, as the watching needs it.
struct Watched {
  const Run* run = nullptr;
  double modified_seconds = 0;  ///< when it last grew, seconds since the Unix epoch
  bool doubtful = false;        ///< found in a folder beside others, and perhaps no log at all
};

/// Where the watched runs come from. One thread at a time.
class WatchedSource {
 public:
  virtual ~WatchedSource() = default;

  /// Reads what is new, waiting a moment for it; true when anything was. An error is final.
  [[nodiscard]] virtual Result<bool> read_new() = 0;
  /// No more will come from here, whoever waits.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Takes what the end completes.
  [[nodiscard]] virtual Result<void> finish() = 0;
  [[nodiscard]] virtual std::vector<Watched> runs() const = 0;
  /// Why there is nothing yet; empty when there is something.
  [[nodiscard]] virtual std::string waiting_for() const = 0;
  /// Whether something is there that could not be looked into when it was last tried.
  [[nodiscard]] virtual bool incomplete() const { return false; }
};

/// Files and folders, looked at again and again; they need not exist yet.
[[nodiscard]] std::unique_ptr<WatchedSource> watch_files(const std::vector<std::string>& paths,
                                                         const ReadOptions& options, int interrupt,
                                                         Surroundings surroundings = {});

/// Standard input or a named pipe.
[[nodiscard]] Result<std::unique_ptr<WatchedSource>> watch_stream(const std::string& path, const ReadOptions& options,
                                                                  int interrupt);

/// The output of a program that was started here, which always ends.
[[nodiscard]] Result<std::unique_ptr<WatchedSource>> watch_output(std::unique_ptr<ReadableFile> output,
                                                                  const std::string& name, const ReadOptions& options);

}  // namespace osler::cli
