// Entry: one run of the library: where its files are, and what of it is held in memory.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/formats/follow.h"
#include "osler/runfile/reader.h"

namespace osler::server {

/// Whether `path`, with every link followed, is `real_root` (a path without links) or lies below it.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& real_root);

/// One run. `mutex` guards everything but the constants and the atomics.
struct Entry {
  using Path = std::filesystem::path;

  // Constant once it is in the library.
  std::string id;
  std::string name;
  std::string format;
  Path real_root;
  Path run_file;  ///< empty: it is a log, in the files of `source`

  /// Size and time of all its files together.
  struct Stamp {
    std::uint64_t bytes = 0;
    double modified = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  mutable std::mutex mutex;
  RunSource source;
  std::optional<FollowedRun> log;  ///< what is held of it
  std::optional<Run> file_run;
  std::optional<Report> report;
  Stamp read_stamp;
  std::chrono::steady_clock::duration reading_took{};
  bool examined = false;
  std::atomic<std::size_t> held_bytes{0};
  std::atomic<std::size_t> answer_bytes{0};
  std::atomic<std::uint64_t> last_use{0};

  [[nodiscard]] Stamp stamp(FileSystem& files) const;
  /// Whether all its files still lie below the served folder.
  [[nodiscard]] bool is_inside() const;
  /// Whether it should be read: it is new, was written to, or has been still for so long that this may mean something.
  [[nodiscard]] bool is_due(const Stamp& now) const;
  /// Whether what is held is as new as the files, or as new as it may be.
  [[nodiscard]] bool is_fresh(const Stamp& now) const;

  /// Reads what is new and diagnoses it.
  [[nodiscard]] Result<void> read(FileSystem& files, const Stamp& now, DiagnosisOptions options);
  /// Remembers that it cannot be read, until it is written to.
  void give_up(const Stamp& now);

  [[nodiscard]] const Run& run() const { return log ? log->run() : *file_run; }
  /// Takes other files for the same run.
  void set_source(const RunSource& found);
  void drop_run();

  using Text = std::shared_ptr<const std::string>;
  /// What was answered to a question since the last reading; null when nothing was. Answers outlive the run itself, and
  /// these three may be called without the mutex: who asks while the run is being read again gets what was known.
  [[nodiscard]] Text kept_answer(std::size_t which) const;
  void keep_answer(std::size_t which, Text answer);
  void drop_answers();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::vector<Path> paths() const;
  [[nodiscard]] Result<void> read_files(FileSystem& files, bool still);
  [[nodiscard]] bool may_be_alive(const Stamp& now, double wall) const;

  mutable std::mutex answers_mutex_;
  std::array<Text, 3> answers_;

  Clock::time_point not_before_{};
  double still_at_read_ = 0;  // seconds since the files were written, when they were read
  std::optional<Stamp> closed_;
  bool over_ = false;
  double newest_ = kNoTime;  // wall time of its newest point
};

}  // namespace osler::server
