// Format: what a log format is: how to recognise it and how to read it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/damage.h"
#include "osler/base/file_system.h"
#include "osler/base/registry.h"
#include "osler/base/result.h"
#include "osler/run/event.h"

namespace osler {

/// How sure a format is that an input is its own.
enum class Sniff { no, possible, certain };

/// What a sniffer may look at.
struct Peek {
  std::filesystem::path path;  ///< as the user named it; "-" for standard input
  std::string_view head;       ///< the first bytes, at most kPeekBytes
  bool whole = false;          ///< `head` is all there is (for now)
};
inline constexpr std::size_t kPeekBytes = 64 * 1024;

/// Reads one input that arrives in pieces of any size. The events do not depend on how it is cut.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Takes the next bytes and emits every event that is complete. An error (`corrupt`, `unsupported`) is final: no more
  /// may be fed. Damage that can be stepped over goes into `damage` instead.
  [[nodiscard]] virtual Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) = 0;

  /// Called once, when no more will come: emits what the end completes (a last line without line end). Returns
  /// `truncated` when bytes are left over that only make sense with more behind them; all earlier events stand.
  [[nodiscard]] virtual Result<void> finish(EventSink& sink, DamageReport& damage) = 0;
};

/// What one file of a run holds when several files share a run.
enum class Part {
  stretch,        ///< series of its own, or a stretch of them: all files count
  snapshot,       ///< everything up to the time it was written: only the largest file counts
  configuration,  ///< no series, only configuration: read along with the run it lies beside, never alone
};

/// One of several runs in a file.
struct StoredRun {
  std::string id;    ///< what the file calls it
  std::string name;  ///< what a person calls it; several runs may share it
};

/// How a file is read that holds several runs: by run, not from front to back.
struct RunStore {
  /// The runs that hold numbers, oldest first.
  Result<std::vector<StoredRun>> (*runs)(FileSystem& files, const std::filesystem::path& path);
  /// Emits the run with that id. Events that came before an error stand.
  Result<void> (*read)(FileSystem& files, const std::filesystem::path& path, const std::string& run, EventSink& sink,
                       DamageReport& damage, const std::stop_token& stop);
};

/// A log format. One file of src/formats/catalogue each.
struct Format {
  std::string_view id;       ///< kebab-case, the file's name
  std::string_view title;    ///< "TensorBoard event file"
  std::string_view doc;      ///< Markdown: what writes it, what is read from it, its quirks
  std::string_view refines;  ///< the id of the general format that would also claim it and must give way; may be empty

  Sniff (*sniff)(const Peek& peek);
  /// A reader for the input at `path` (its name may hold meaning, as with MLflow's metric files).
  std::unique_ptr<Reader> (*open)(const std::filesystem::path& path);
  /// The folder or file that is the run this file belongs to: files of one run share it. Files are read in name order.
  std::filesystem::path (*run_of)(const std::filesystem::path& path);
  Part part = Part::stretch;
  /// The id of a format that tells the same run better: where a file of that one is there, this one is left out.
  std::string_view yields_to = {};
  /// For a file that may hold several runs; null otherwise. `open` then reads the newest of them.
  const RunStore* store = nullptr;
};

/// All formats, sorted by file name.
[[nodiscard]] std::span<const Registered<Format>> formats();
/// The format with that id, or nullptr.
[[nodiscard]] const Format* find_format(std::string_view id);

}  // namespace osler
