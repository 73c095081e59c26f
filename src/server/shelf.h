// Shelf: the runs that a server shows, wherever they lie.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/card.h"
#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/runfile/reader.h"

namespace osler::server {

/// The cards that changed after a revision.
struct Changes {
  std::uint64_t revision = 0;
  std::vector<std::string> cards;  ///< as JSON
  bool list_anew = false;          ///< the list is to be asked for anew: some run is gone, or the first search is over
};

/// A series by its name, or by its number where the name is too long for an address.
struct SeriesChoice {
  std::string name;
  std::optional<std::size_t> number;
};

/// A stretch of a series.
struct SeriesWindow {
  std::string name;
  std::vector<WindowSpan> spans;
};

/// A text that several answers share: it may be long, and is never copied.
using Text = std::shared_ptr<const std::string>;

/// Answers questions about runs. Its methods may be called from several threads where nothing else is said.
class Shelf {
 public:
  /// What is kept of a run as text, so that it can be answered at once after the run itself was dropped.
  enum class Answer { run, report, heat };

  virtual ~Shelf() = default;

  /// Looks for runs that are new or gone. Leaves everything as it was when a stop is requested meanwhile.
  virtual void search(const std::stop_token& stop) = 0;
  /// Examines what is new or was written to since, where that is not done by others. One thread at a time.
  virtual void examine_changed(const std::stop_token& stop) = 0;
  /// From now on nobody waits for changes: the server ends.
  virtual void wake() = 0;

  /// All cards: {"revision", "searched", "runs": [card...], "left_out": {"count", "files": [{"path", "why"}...]}};
  /// before the first search is over some may be missing.
  [[nodiscard]] virtual Text runs_json() const = 0;
  /// Configuration and figures of every run that was examined: {"runs": {id: {"configuration", "metrics"}...}}.
  [[nodiscard]] virtual std::string table_json() const = 0;
  [[nodiscard]] virtual std::vector<dashboard::Card> cards() const = 0;
  /// Waits until something is newer than `since`, at most `patience`.
  [[nodiscard]] virtual Changes changes_since(std::uint64_t since, std::chrono::milliseconds patience) const = 0;
  [[nodiscard]] virtual std::uint64_t revision() const = 0;
  [[nodiscard]] virtual const DiagnosisOptions& diagnosis() const = 0;

  /// Shows the run with that id, with its report, to `look`. Fails when there is none or it is unreadable.
  [[nodiscard]] virtual Result<void> with_run(std::string_view id,
                                              const std::function<void(const Run&, const Report&)>& look) = 0;
  /// Shows two runs at once.
  [[nodiscard]] virtual Result<void> with_runs(std::string_view a, std::string_view b,
                                               const std::function<void(const Run&, const Run&)>& look) = 0;
  /// Whether the run was written to within the last minutes.
  [[nodiscard]] virtual bool grows(std::string_view id) = 0;
  /// One of the answers about a run.
  [[nodiscard]] virtual Result<Text> answer(std::string_view id, Answer which) = 0;
  /// A stretch of a series, with no spike lost.
  [[nodiscard]] virtual Result<SeriesWindow> window(std::string_view id, const SeriesChoice& series,
                                                    const WindowRequest& request) = 0;
};

}  // namespace osler::server
