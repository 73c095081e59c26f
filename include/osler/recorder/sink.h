// Sink: where a recorder writes to; several at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/run/event.h"
#include "osler/run/layer_info.h"

namespace osler {

/// What was recorded since the last batch, each kind in the order it was recorded. A mark of kind `restart` starts a
/// batch, so marks are to be taken before events. Points into the recorder: valid during the call alone.
struct RecordBatch {
  std::span<const std::string> names;  ///< of all series so far, by id
  std::span<const std::pair<std::string, std::string>> config;
  std::span<const LayerInfo> layers;  ///< the whole structure when it was told anew, else empty
  std::span<const Mark> marks;
  std::span<const Histogram> histograms;
  std::span<const Event> events;
};

/// A place to write a run to. A recorder calls its sinks from one thread, its own, about once a second; so a sink may
/// be slow and needs no locks, but must not call back into the recorder.
class Sink {
 public:
  virtual ~Sink() = default;

  /// How messages call it: "run file runs/a.osler".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Writes a batch and hands it to the operating system: it survives the death of the process. A sink that failed is
  /// called again; it either makes good for what failed or fails for good.
  [[nodiscard]] virtual Result<void> write(const RecordBatch& batch) = 0;
  /// A report on the run so far as JSON. Sinks without a place for it ignore it.
  [[nodiscard]] virtual Result<void> report(std::int64_t /*step*/, double /*wall_time*/, std::string_view /*json*/) {
    return {};
  }
  /// Called once, when nothing more comes.
  [[nodiscard]] virtual Result<void> close() = 0;
};

using SinkPointer = std::unique_ptr<Sink>;

/// A run file (docs/formats/run.md); appends when it exists.
[[nodiscard]] Result<SinkPointer> run_file_sink(const std::filesystem::path& path, const std::string& run_name = {});

/// How TensorBoard event files are written.
struct TensorBoardOptions {
  /// TensorBoard's own scalars have 32 bits. Exact ones have all 64 beside them, in a field that TensorBoard passes
  /// over and Osler reads.
  bool exact = false;
  double wall_time = kNoTime;  ///< in the file's name; kNoTime: now
  std::string host = "osler";  ///< in the file's name
};
/// A TensorBoard event file in `directory`: scalars, histograms, and configuration and marks as text. Each sink starts
/// a file of its own, as TensorBoard wants it.
[[nodiscard]] Result<SinkPointer> tensorboard_sink(FileSystem& files, const std::filesystem::path& directory,
                                                   const TensorBoardOptions& options = {});

/// Who a W&B run is.
struct WandbOptions {
  std::string id;  ///< eight lower-case letters or digits; empty: made from the time
  std::string name;
  std::string project = "uncategorized";
  double wall_time = kNoTime;  ///< when it started; kNoTime: now
};
/// A W&B offline run below `directory`, to be uploaded with `wandb sync`: wandb/offline-run-<date>-<id>/.
[[nodiscard]] Result<SinkPointer> wandb_sink(FileSystem& files, const std::filesystem::path& directory,
                                             const WandbOptions& options = {});

/// A CSV table: one row for each step, one column for each series. A series that appears later adds a column: the file
/// is written anew with it. Configuration, marks and histograms have no place in it.
[[nodiscard]] Result<SinkPointer> csv_sink(FileSystem& files, const std::filesystem::path& path);

/// JSON lines: one object for each step, appended to what is there. Marks are objects of their own, and so is the
/// configuration, as JSON within a text.
[[nodiscard]] Result<SinkPointer> jsonl_sink(FileSystem& files, const std::filesystem::path& path);

}  // namespace osler
