// RunFileWriter: records a run into one .osler file that survives the death of its writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "osler/base/result.h"
#include "osler/run/event.h"
#include "osler/run/layer_info.h"

namespace osler {

/// How a run file is written.
struct RunFileOptions {
  std::string name;  ///< display name; empty: the file's stem
  std::string vfs;   ///< the SQLite VFS to go through; empty: the operating system's files. Tests inject faults here
  /// Points that may wait in memory while writing fails; beyond it the oldest are given up and the file says so.
  std::size_t most_unsaved = 4'000'000;
  /// Points that are kept as they come before they are packed into chunks; a reader unpacks them when it opens the
  /// file.
  std::int64_t most_unpacked = 400'000;
};

/// Writes a run file. Everything added is kept in memory until `commit`, which writes it in one transaction: after the
/// process dies, whenever that is, the file holds exactly what was committed. One writer per file; any number of
/// readers may read meanwhile, in this process or another. One thread at a time. docs/formats/run.md is the format.
class RunFileWriter final : public EventSink {
 public:
  /// Creates `path`, or opens it to append when it is a run file: what follows becomes a new segment, and the seam is
  /// recorded as a mark. Fails when the file is something else, is damaged, or comes from a newer Osler.
  static Result<RunFileWriter> open(const std::filesystem::path& path, const RunFileOptions& options = {});

  RunFileWriter(RunFileWriter&&) noexcept;
  RunFileWriter& operator=(RunFileWriter&&) noexcept;
  /// Closes as `close` does, without a word on failure.
  ~RunFileWriter() override;

  SeriesId series(std::string_view name) override;
  void add(const Event& event) override;
  /// A mark of kind `restart` also starts a new segment: what earlier ones hold from its step on is void.
  void add(Mark mark) override;
  void config(std::string_view key, std::string_view value) override;
  void distribution(const Histogram& histogram) override;
  /// The structure of the network; replaces what was told before.
  void layers(std::span<const LayerInfo> layers);
  /// A report on the run so far, as JSON text.
  void report(std::int64_t step, double wall_time, std::string_view json);

  /// Makes everything added so far durable against the death of the process. After a failure (a full disk) nothing is
  /// lost: the next commit tries again.
  Result<void> commit();
  /// Commits, packs the newest points, and lets go of the file. Nothing may be added after it. Fine to call twice.
  Result<void> close();

 private:
  class Work;
  explicit RunFileWriter(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace osler
